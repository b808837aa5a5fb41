import type { ReactElement } from "react";
import { Link } from "wouter";
import type { Period } from "../address/period.ts";
import type { ReportAnswer } from "../client/reports.ts";
import { useMembership } from "../member/membership.ts";

/** Sums of money stand in one currency. Names what is left out in one line, and offers to show or to convert it. */
export function MoneyNote({
  answer: { other_currencies: others, currency: shown, conversion },
  period,
  onChange,
}: {
  readonly answer: Pick<ReportAnswer, "other_currencies" | "currency" | "conversion">;
  readonly period: Period;
  readonly onChange: (period: Period) => void;
}): ReactElement | null {
  const without = period.isConverted ? (conversion?.unconverted ?? others) : [];
  if (others.length === 0 && !period.isConverted && period.currency === undefined) return null;
  const choice = (text: string, to: Partial<Period>): ReactElement => (
    <button
      key={text}
      type="button"
      className="link-button"
      onClick={() => onChange({ ...period, ...to })}
    >
      {text}
    </button>
  );
  return (
    <p className="money-note muted" role="note">
      <span>{sentence(others, without, shown, period.isConverted)}</span>
      {without.length > 0 && <RateAdvice />}
      {others.map((currency) => choice(`Show ${currency}`, { currency, isConverted: false }))}
      {others.length > 0 &&
        !period.isConverted &&
        choice(`Convert into ${shown}`, { isConverted: true })}
      {(period.isConverted || period.currency !== undefined) &&
        choice("Back to the currency of the workspace", {
          currency: undefined,
          isConverted: false,
        })}
    </p>
  );
}

/** Where a missing rate is set, or who can set it. */
function RateAdvice(): ReactElement {
  const { base, role, accountName } = useMembership();
  if (role === "admin")
    return <Link href={`${base}/costs?of=rates`}>Set a rate in Costs and FX</Link>;
  return (
    <span>
      {accountName === undefined
        ? "An admin of the workspace can set it in Costs and FX."
        : "Your account manager can set it."}
    </span>
  );
}

function sentence(
  others: readonly string[],
  without: readonly string[],
  shown: string,
  isConverted: boolean,
): string {
  if (without.length > 0)
    return `There is no rate from ${without.join(", ")} to ${shown} for some days, so totals leave out that money.`;
  if (others.length > 0) return `Totals are in ${shown} and leave out ${others.join(", ")}.`;
  return isConverted
    ? `Other currencies are converted into ${shown} at the reference rate of each day.`
    : `Money is shown in ${shown}.`;
}

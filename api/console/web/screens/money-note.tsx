import type { ReactElement } from "react";
import type { Period } from "../address/period.ts";

/** Sums of money stand in one currency. Names what is left out, and offers to show or to convert it. */
export function MoneyNote({
  others,
  shown,
  period,
  onChange,
}: {
  readonly others: readonly string[];
  readonly shown: string;
  readonly period: Period;
  readonly onChange: (period: Period) => void;
}): ReactElement | null {
  if (others.length === 0 && !period.isConverted && period.currency === undefined) return null;
  return (
    <div className="notice warn wrap" role="note">
      <span className="grow">{sentence(others, shown, period.isConverted)}</span>
      {others.map((currency) => (
        <button
          key={currency}
          type="button"
          className="button"
          onClick={() => onChange({ ...period, currency })}
        >
          Show {currency}
        </button>
      ))}
      {others.length > 0 && !period.isConverted && (
        <button
          type="button"
          className="button"
          onClick={() => onChange({ ...period, isConverted: true })}
        >
          Convert into {shown}
        </button>
      )}
      {(period.isConverted || period.currency !== undefined) && (
        <button
          type="button"
          className="button"
          onClick={() => onChange({ ...period, currency: undefined, isConverted: false })}
        >
          Back to the currency of the workspace
        </button>
      )}
    </div>
  );
}

function sentence(others: readonly string[], shown: string, isConverted: boolean): string {
  if (others.length > 0) {
    const why = isConverted ? ", because there is no rate for it" : "";
    return `Totals are in ${shown} and leave out ${others.join(", ")}${why}.`;
  }
  return isConverted
    ? `Other currencies are converted into ${shown} at the reference rate of each day.`
    : `Money is shown in ${shown}.`;
}

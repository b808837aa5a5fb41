import type { ReactElement } from "react";
import { amountOf, formatAmount } from "../../../../../schemas/money/amount.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { UpdateWithSums } from "./use-updates.ts";

type Sum = UpdateWithSums["sums"][number];

const AMOUNTS = ["payout_before", "payout_after", "revenue_before", "revenue_after"] as const;

const COLUMNS: readonly Column<Sum>[] = [
  {
    name: "partner",
    title: "Partner",
    cell: ({ affiliate_name: name }) =>
      name === null ? "No partner" : <StrangerText text={name} />,
  },
  { name: "rows", title: "Conversions", isNumber: true, cell: ({ rows }) => formatCount(rows) },
  ...(["payout", "revenue"] as const).flatMap((of): Column<Sum>[] => {
    const title = of === "payout" ? "Payout" : "Revenue";
    return [
      {
        name: `${of}_before`,
        title: `${title} before`,
        isNumber: true,
        cell: (sum) => formatMoney(sum[`${of}_before`], sum.currency),
      },
      {
        name: `${of}_after`,
        title: `${title} after`,
        isNumber: true,
        cell: (sum) => formatMoney(sum[`${of}_after`], sum.currency),
      },
    ];
  }),
];

/** What approved conversions of the file earn and charge before and after it: the largest differences of a currency first. */
export function UpdateSums({ sums }: { readonly sums: readonly Sum[] }): ReactElement | null {
  if (sums.length === 0) return null;
  return (
    <>
      <Totals sums={sums} />
      <DataTable
        caption="Amounts by partner"
        columns={COLUMNS}
        rows={sums.toSorted((a, b) => a.currency.localeCompare(b.currency))}
        keyOf={({ affiliate_id: id, currency }) => `${id ?? 0} ${currency}`}
      />
    </>
  );
}

/** What all partners together earn and all advertisers are charged, to be held against the file's own total. */
function Totals({ sums }: { readonly sums: readonly Sum[] }): ReactElement {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].toSorted();
  const total = (of: (typeof AMOUNTS)[number], currency: string): string => {
    const amounts = sums.filter((sum) => sum.currency === currency).map((sum) => amountOf(sum[of]));
    return formatMoney(formatAmount(amounts.reduce((one, other) => one + other, 0n)), currency);
  };
  return (
    <ul className="plain-list" aria-label="All together">
      {currencies.map((currency) => {
        const [paidBefore, paid, chargedBefore, charged] = AMOUNTS.map((of) => total(of, currency));
        return (
          <li key={currency}>
            {currency}: payout {paidBefore} becomes {paid}, revenue {chargedBefore} becomes{" "}
            {charged}
          </li>
        );
      })}
    </ul>
  );
}

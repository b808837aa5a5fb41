import type { ReactElement } from "react";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { UpdateWithSums } from "./use-updates.ts";

type Sum = UpdateWithSums["sums"][number];

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

/** What approved conversions of the file earn and charge before and after it. */
export function UpdateSums({ sums }: { readonly sums: readonly Sum[] }): ReactElement | null {
  if (sums.length === 0) return null;
  return (
    <DataTable
      caption="Amounts by partner"
      columns={COLUMNS}
      rows={sums}
      keyOf={({ affiliate_id: id, currency }) => `${id ?? 0} ${currency}`}
    />
  );
}

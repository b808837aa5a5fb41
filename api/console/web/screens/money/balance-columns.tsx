import type { components } from "../../../../../.build/console/openapi.ts";
import { formatMoney } from "../../format/money.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";

export type Balance = components["schemas"]["Balance"];

type Amount = Exclude<keyof Balance, "id" | "kind" | "owner_id" | "owner_name" | "currency">;
type Amounts = readonly (readonly [Amount, string])[];

export const AMOUNTS: Readonly<Record<Balance["kind"], Amounts>> = {
  affiliate: [
    ["balance", "Owed"],
    ["pending", "Pending"],
    ["unbilled", "Unbilled"],
    ["carried", "Carried"],
    ["draft", "Draft"],
    ["approved_unpaid", "Approved"],
    ["in_payout", "In payout"],
    ["paid_total", "Paid"],
  ],
  advertiser: [
    ["balance", "Owes"],
    ["pending", "Pending"],
    ["unbilled", "Unbilled"],
    ["carried", "Carried"],
    ["draft", "Draft"],
    ["invoiced_open", "Invoiced"],
    ["unallocated", "Not allocated"],
    ["paid_total", "Paid"],
  ],
};

export const BALANCE_COLUMNS: Readonly<Record<Balance["kind"], readonly Column<Balance>[]>> = {
  affiliate: columnsOf("Partner", AMOUNTS.affiliate),
  advertiser: columnsOf("Advertiser", AMOUNTS.advertiser),
};

function columnsOf(owner: string, amounts: Amounts): readonly Column<Balance>[] {
  return [
    {
      name: "owner",
      title: owner,
      opens: true,
      cell: (row) => <StrangerText text={row.owner_name} />,
    },
    { name: "currency", title: "Currency", cell: ({ currency }) => currency },
    ...amounts.map(
      ([name, title]): Column<Balance> => ({
        name,
        title,
        isNumber: true,
        isEarly: name === "balance",
        cell: (row) => formatMoney(row[name] ?? "0", row.currency),
      }),
    ),
  ];
}

import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { periodText, type Statement } from "./statement.ts";

const money =
  (field: "total" | "payable" | "gross" | "carried_out") =>
  (row: Statement): string =>
    formatMoney(row[field], row.currency);

/** Columns of statements; partners know who they are. */
export function statementColumns(isOwn: boolean): readonly Column<Statement>[] {
  const columns: readonly (Column<Statement> | undefined)[] = [
    isOwn
      ? undefined
      : {
          name: "partner",
          title: "Partner",
          opens: true,
          cell: (row) => <StrangerText text={row.affiliate_name} />,
        },
    {
      name: "number",
      title: "Number",
      opens: isOwn,
      // What is carried or void never gets a number.
      cell: ({ number, status }) =>
        number ?? <span className="muted">{status === "draft" ? "None yet" : "None"}</span>,
    },
    {
      name: "status",
      title: "Status",
      isEarly: true,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    { name: "gross", title: "To be paid", isNumber: true, isEarly: true, cell: money("gross") },
    { name: "total", title: "Total", isNumber: true, cell: money("total") },
    { name: "carried", title: "Carried on", isNumber: true, cell: money("carried_out") },
    { name: "period", title: "Period", cell: periodText },
    { name: "due", title: "Due", cell: ({ due_on: due }) => formatDay(due) },
  ];
  return columns.filter((column) => column !== undefined);
}

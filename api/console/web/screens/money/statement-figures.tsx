import { type ReactElement, useState } from "react";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { useEarlyColumns } from "../../records/use-columns.ts";
import { LineEntries } from "./line-entries.tsx";
import { kindText, type StatementLine, type StatementWithLines } from "./statement.ts";

/** What was earned, line by line, and what becomes of the sum. */
export function StatementFigures({
  statement,
}: {
  readonly statement: StatementWithLines;
}): ReactElement {
  const [open, setOpen] = useState<StatementLine>();
  const { lines } = statement;
  const columns = useEarlyColumns(columnsFor(statement.currency));
  return (
    <div className="stack">
      <section className="panel stack">
        <h2>Lines</h2>
        {lines.length === 0 ? (
          <p className="muted">Nothing was earned in this period.</p>
        ) : (
          <DataTable
            caption="Lines"
            columns={columns}
            rows={lines}
            keyOf={({ line }) => String(line)}
            onOpen={setOpen}
          />
        )}
      </section>
      <section className="panel stack">
        <h2>Sums</h2>
        <Facts facts={factsOf(statement)} />
      </section>
      {open !== undefined && (
        <LineEntries statement={statement} line={open} onClose={() => setOpen(undefined)} />
      )}
    </div>
  );
}

function columnsFor(currency: string): readonly Column<StatementLine>[] {
  return [
    { name: "kind", title: "Item", opens: true, cell: kindText },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
    { name: "event", title: "Event", cell: ({ event_code: event }) => event },
    {
      name: "count",
      title: "Count",
      isNumber: true,
      // Conversions and clicks are counted, adjustments are not.
      cell: ({ count }) => (count === 0 ? "" : formatCount(count)),
    },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      isEarly: true,
      cell: ({ amount }) => formatMoney(amount, currency),
    },
  ];
}

function factsOf(statement: StatementWithLines): Fact[] {
  const { currency, tax, min_payout: minimum, status } = statement;
  const money = (amount: string): string => formatMoney(amount, currency);
  return [
    ["Carried in", money(statement.carried_in)],
    ["Total", money(statement.total)],
    ["Minimum", minimum === null ? "No rate of exchange, so not reached" : money(minimum)],
    ["Payable", money(statement.payable)],
    ["Tax", tax.mode === "domestic" ? `${money(tax.amount)} (${Number(tax.rate)} %)` : ""],
    ["To be paid", status === "carried" ? "" : money(statement.gross)],
    ["Carried to the next statement", money(statement.carried_out)],
    ["On the document", tax.text],
  ];
}

import type { ReactElement } from "react";
import { Link } from "wouter";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { type Invoice, invoiceTitle } from "./invoice.ts";
import { InvoiceStatus } from "./invoice-status.tsx";
import { PeriodText } from "./period-text.tsx";

/** The invoices of the advertiser who looks. */
export function OwnInvoices(): ReactElement {
  const { api, base } = useMembership();
  const columns: readonly Column<Invoice>[] = [
    {
      name: "number",
      title: "Invoice",
      cell: (row) => <Link href={`${base}/invoices/${row.id}`}>{invoiceTitle(row)}</Link>,
    },
    {
      name: "status",
      title: "Status",
      isEarly: true,
      cell: (row) => <InvoiceStatus invoice={row} />,
    },
    {
      name: "cost",
      title: "Cost with tax",
      isNumber: true,
      isEarly: true,
      cell: (row) => formatMoney(row.gross, row.currency),
    },
    {
      name: "open",
      title: "Open",
      isNumber: true,
      cell: (row) => formatMoney(row.open, row.currency),
    },
    {
      name: "due",
      title: "Due",
      cell: (row) => (row.kind === "invoice" ? formatDay(row.due_on) : ""),
    },
    { name: "period", title: "Period", cell: (row) => <PeriodText invoice={row} /> },
  ];
  return (
    <>
      <h1>Invoices</h1>
      <RecordList<Invoice>
        title="Your invoices"
        name="own-invoices"
        load={async (query, signal) =>
          await read(api.GET("/me/invoices", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={
          <>
            <strong>No invoices yet</strong>
            <p className="muted">You see an invoice here once the network has sent it.</p>
          </>
        }
      />
    </>
  );
}

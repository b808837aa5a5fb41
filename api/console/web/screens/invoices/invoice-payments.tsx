import type { ReactElement } from "react";
import { formatMoney } from "../../format/money.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { InvoiceDetail } from "./invoice.ts";

/** What covers an invoice. */
export function InvoicePayments({
  invoice: { payments, currency, paid, gross },
}: {
  readonly invoice: InvoiceDetail;
}): ReactElement {
  return (
    <section className="panel stack">
      <h2>Payments</h2>
      {payments.length === 0 ? (
        <p className="muted">Nothing was paid yet.</p>
      ) : (
        <>
          <DataTable
            caption="Payments of the invoice"
            rows={payments}
            keyOf={({ payment_id: id }) => String(id)}
            columns={[
              {
                name: "reference",
                title: "Reference",
                cell: (row) => <StrangerText text={row.external_id} />,
              },
              {
                name: "amount",
                title: "Covers",
                isNumber: true,
                cell: (row) => formatMoney(row.amount, currency),
              },
              {
                name: "received",
                title: "Received",
                cell: (row) => <InstantText iso={row.received_at} />,
              },
            ]}
          />
          <p>
            {formatMoney(paid, currency)} of {formatMoney(gross, currency)} paid.
          </p>
        </>
      )}
    </section>
  );
}

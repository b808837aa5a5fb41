import type { ReactElement } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { RecordPage, useRecordId } from "../../records/record-page.tsx";
import { type InvoiceDetail, invoiceTitle } from "./invoice.ts";
import { InvoiceFiles } from "./invoice-files.tsx";
import { InvoiceLines } from "./invoice-lines.tsx";
import { InvoicePayments } from "./invoice-payments.tsx";
import { InvoiceStatus } from "./invoice-status.tsx";
import { InvoiceTotals } from "./invoice-totals.tsx";

type NamedInvoice = InvoiceDetail & { readonly name: string };

const LIST = { path: "/invoices", title: "Invoices" };

/** One own invoice of an advertiser. */
export function OwnInvoicePage(): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const id = useRecordId();
  const record = useRecord<NamedInvoice>(membership, {
    name: "own-invoice",
    id,
    load: async (signal) => {
      const params = { path: { id } };
      const { data } = await read(api.GET("/me/invoices/{id}", { params, signal }));
      return { ...data, name: invoiceTitle(data) };
    },
  });
  return (
    <RecordPage<NamedInvoice>
      list={LIST}
      noun="Invoice"
      record={record}
      head={(invoice) => (
        <>
          <InvoiceStatus invoice={invoice} />
          {invoice.open !== "0.0000" && (
            <span>{formatMoney(invoice.open, invoice.currency)} open</span>
          )}
        </>
      )}
      tabs={(invoice) => [
        {
          name: "overview",
          title: "Overview",
          content: (
            <>
              <div className="columns apart">
                <InvoiceTotals invoice={invoice} />
                <InvoiceFiles invoice={invoice} path="/me/invoices" />
              </div>
              <InvoiceLines invoice={invoice} />
            </>
          ),
        },
        { name: "payments", title: "Payments", content: <InvoicePayments invoice={invoice} /> },
      ]}
    />
  );
}

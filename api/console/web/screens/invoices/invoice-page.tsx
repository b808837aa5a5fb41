import { type ReactElement, useState } from "react";
import { read } from "../../client/api-client.ts";
import { useRecord } from "../../client/records.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordPage, useRecordId } from "../../records/record-page.tsx";
import { EnterPayment } from "./enter-payment.tsx";
import { type InvoiceDetail, invoiceTitle } from "./invoice.ts";
import { InvoiceActions } from "./invoice-actions.tsx";
import { InvoiceFiles } from "./invoice-files.tsx";
import { InvoiceLines } from "./invoice-lines.tsx";
import { InvoicePayments } from "./invoice-payments.tsx";
import { InvoiceStatus } from "./invoice-status.tsx";
import { InvoiceTotals } from "./invoice-totals.tsx";

type NamedInvoice = InvoiceDetail & { readonly name: string };

const LIST = { path: "/money/invoices", title: "Invoices" };

/** One invoice of an advertiser: what is on it, what covers it, and what can be done. */
export function InvoicePage(): ReactElement {
  const membership = useMembership();
  const { api } = membership;
  const id = useRecordId();
  const record = useRecord<NamedInvoice>(membership, {
    name: "invoice",
    id,
    load: async (signal) => {
      const params = { path: { id } };
      const { data } = await read(api.GET("/invoices/{id}", { params, signal }));
      return { ...data, name: invoiceTitle(data) };
    },
  });
  return (
    <RecordPage<NamedInvoice>
      list={LIST}
      noun="Invoice"
      record={record}
      head={(invoice) => <Head invoice={invoice} />}
      tabs={(invoice) => [
        { name: "overview", title: "Overview", content: <Overview invoice={invoice} /> },
        {
          name: "payments",
          title: "Payments",
          content: <InvoicePayments invoice={invoice} />,
        },
      ]}
    />
  );
}

function Head({ invoice }: { readonly invoice: InvoiceDetail }): ReactElement {
  const { advertiser_id: advertiserId, advertiser_name: name, open, currency } = invoice;
  return (
    <>
      <InvoiceStatus invoice={invoice} />
      <RecordLink path="/advertisers" id={advertiserId}>
        <StrangerText text={name} />
      </RecordLink>
      {open !== "0.0000" && <span>{formatMoney(open, currency)} open</span>}
    </>
  );
}

function Overview({ invoice }: { readonly invoice: InvoiceDetail }): ReactElement {
  const { role } = useMembership();
  const [isPaying, setPaying] = useState(false);
  const isOpen = invoice.kind === "invoice" && ["sent", "part_paid"].includes(invoice.status);
  return (
    <>
      <div className="columns apart">
        <InvoiceTotals invoice={invoice} />
        <div className="stack">
          {role === "admin" && (
            <InvoiceActions invoice={invoice} onPay={isOpen ? () => setPaying(true) : undefined} />
          )}
          {invoice.number !== null && <InvoiceFiles invoice={invoice} path="/invoices" />}
        </div>
      </div>
      <InvoiceLines invoice={invoice} />
      {isPaying && <EnterPayment invoice={invoice} onClose={() => setPaying(false)} />}
    </>
  );
}

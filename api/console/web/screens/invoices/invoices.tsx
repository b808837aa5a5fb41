import { CalendarCheck } from "lucide-react";
import { type ReactElement, useState } from "react";
import { useAddress } from "../../address/use-address.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { SectionTabs } from "../../parts/section-tabs.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { currencyChoices } from "../../records/known-choices.ts";
import type { ListFilter } from "../../records/list-filters.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { ClosePeriod } from "./close-period.tsx";
import { type Invoice, invoiceTitle } from "./invoice.ts";
import { InvoiceStatus } from "./invoice-status.tsx";
import { Payments } from "./payments.tsx";
import { PeriodText } from "./period-text.tsx";

const PARTS = [
  { name: "invoices", title: "Invoices" },
  { name: "payments", title: "Payments" },
] as const;

const FILTERS: readonly ListFilter[] = [
  {
    name: "status",
    label: "Status",
    choices: [
      ["draft", "Draft"],
      ["sent", "Sent"],
      ["part_paid", "Part paid"],
      ["paid", "Paid"],
      ["carried", "Carried"],
      ["credited", "Credited"],
      ["void", "Void"],
    ],
  },
  {
    name: "overdue",
    label: "Overdue",
    choices: [
      ["true", "Overdue"],
      ["false", "Not overdue"],
    ],
  },
  { name: "advertiser_id", label: "Advertiser", load: advertiserChoices },
  { name: "currency", label: "Currency", load: currencyChoices },
];

const COLUMNS: readonly Column<Invoice>[] = [
  {
    name: "number",
    title: "Invoice",
    cell: (row) => (
      <RecordLink path="/money/invoices" id={row.id}>
        {invoiceTitle(row)}
      </RecordLink>
    ),
  },
  {
    name: "advertiser",
    title: "Advertiser",
    cell: (row) => <StrangerText text={row.advertiser_name} />,
  },
  {
    name: "status",
    title: "Status",
    isEarly: true,
    cell: (row) => <InvoiceStatus invoice={row} />,
  },
  {
    name: "gross",
    title: "Total",
    isNumber: true,
    isEarly: true,
    cell: (row) => formatMoney(row.status === "carried" ? row.total : row.gross, row.currency),
  },
  {
    name: "open",
    title: "Open",
    isNumber: true,
    cell: (row) => formatMoney(row.open, row.currency),
  },
  { name: "period", title: "Period", cell: (row) => <PeriodText invoice={row} /> },
  { name: "due", title: "Due", cell: (row) => formatDay(row.due_on) },
];

/** What advertisers owe and what they paid. */
export function Invoices(): ReactElement {
  const { base } = useMembership();
  const [search] = useAddress();
  const isPayments = search.get("of") === "payments";
  return (
    <>
      <h1>Invoices</h1>
      <SectionTabs
        label="Parts"
        tabs={PARTS}
        current={isPayments ? "payments" : "invoices"}
        path={`${base}/money/invoices`}
      />
      {isPayments ? <Payments /> : <InvoiceList />}
    </>
  );
}

function InvoiceList(): ReactElement {
  const { api, role } = useMembership();
  const [isClosing, setClosing] = useState(false);
  return (
    <>
      <RecordList<Invoice>
        title="Invoices"
        isTitled={false}
        name="invoices"
        filters={FILTERS}
        load={async (query, signal) =>
          await read(api.GET("/invoices", { params: { query: fromAddress(query) }, signal }))
        }
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        nothing={
          <>
            <strong>No invoices yet</strong>
            <p className="muted">Drafts are made by themselves after the end of a period.</p>
          </>
        }
        actions={
          role === "admin" && (
            <button type="button" className="button first" onClick={() => setClosing(true)}>
              <CalendarCheck size={14} aria-hidden /> Close period
            </button>
          )
        }
      />
      {isClosing && <ClosePeriod onClose={() => setClosing(false)} />}
    </>
  );
}

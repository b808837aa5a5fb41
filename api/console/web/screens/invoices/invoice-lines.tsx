import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatCount } from "../../format/figure.ts";
import { formatMoney } from "../../format/money.ts";
import { useMembership } from "../../member/membership.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Drawer } from "../../parts/drawer.tsx";
import { InstantText } from "../../parts/instant-text.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { type InvoiceDetail, type InvoiceLine, lineWords } from "./invoice.ts";

type Entry = components["schemas"]["InvoiceEntry"];

/** What is on an invoice. Staff open a line to see the conversions behind it. */
export function InvoiceLines({ invoice }: { readonly invoice: InvoiceDetail }): ReactElement {
  const { role } = useMembership();
  const [opened, setOpened] = useState<InvoiceLine>();
  const { currency, lines, kind } = invoice;
  const isStaff = role === "admin" || role === "analyst";
  const hasEntries = isStaff && kind === "invoice";
  const columns: readonly Column<InvoiceLine>[] = [
    { name: "what", title: "What", opens: true, cell: (line) => lineWords(line) },
    {
      name: "offer",
      title: "Offer",
      cell: (line) => <StrangerText text={line.offer_name ?? ""} />,
    },
    {
      name: "count",
      title: "Count",
      isNumber: true,
      cell: ({ count }) => (count === 0 ? "" : formatCount(count)),
    },
    {
      name: "amount",
      title: isStaff ? "Amount" : "Cost",
      isNumber: true,
      cell: ({ amount }) => formatMoney(amount, currency),
    },
  ];
  return (
    <section className="panel stack">
      <h2>Lines</h2>
      {lines.length === 0 ? (
        <p className="muted">Nothing was posted in this period.</p>
      ) : (
        <DataTable<InvoiceLine>
          caption="Lines of the invoice"
          rows={lines}
          keyOf={({ line }) => String(line)}
          columns={columns}
          onOpen={hasEntries ? setOpened : undefined}
        />
      )}
      {opened !== undefined && (
        <Drawer title={lineWords(opened)} onClose={() => setOpened(undefined)}>
          <Entries invoice={invoice} line={opened} />
        </Drawer>
      )}
    </section>
  );
}

function Entries({
  invoice: { id, currency },
  line: { line },
}: {
  readonly invoice: InvoiceDetail;
  readonly line: InvoiceLine;
}): ReactElement {
  const { api } = useMembership();
  const columns: readonly Column<Entry>[] = [
    {
      name: "conversion",
      title: "Conversion",
      cell: ({ conversion_id, adv_txid }) =>
        conversion_id !== null && (
          <RecordLink path="/conversions" id={conversion_id}>
            {adv_txid === null || adv_txid === "" ? conversion_id.slice(0, 8) : adv_txid}
          </RecordLink>
        ),
    },
    {
      name: "amount",
      title: "Amount",
      isNumber: true,
      cell: ({ amount }) => formatMoney(amount, currency),
    },
    { name: "posted", title: "Posted", cell: (row) => <InstantText iso={row.posted_at} /> },
  ];
  return (
    <RecordList<Entry>
      title="Conversions and postings"
      name="invoice-lines"
      fixed={{ of: `${id}`, line: String(line) }}
      load={async ({ cursor }, signal) => {
        const query = cursor === undefined ? {} : { cursor };
        const params = { path: { id, line }, query: fromAddress(query) };
        return await read(api.GET("/invoices/{id}/lines/{line}/entries", { params, signal }));
      }}
      columns={columns}
      keyOf={({ seq }) => String(seq)}
      nothing="Nothing is behind this line."
    />
  );
}

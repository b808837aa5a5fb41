import type { ReactElement } from "react";
import type { Column } from "../../parts/data-table.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import type { Offer } from "../offers/offer.ts";
import { payoutText } from "./payout-text.ts";

type Event = Offer["events"][number];

/** What a partner is paid for each event. */
export function OwnEvents({ offer }: { readonly offer: Offer }): ReactElement {
  const columns: readonly Column<Event>[] = [
    {
      name: "name",
      title: "Event",
      cell: ({ name, code }) => <StrangerText text={name === "" ? code : name} />,
    },
    { name: "payout", title: "Payout", cell: (event) => payoutText(event, offer.currency) },
    {
      name: "several",
      title: "For a click",
      cell: (event) => (event.allow_multiple ? "Several" : "Once"),
    },
    { name: "code", title: "Code", cell: ({ code }) => <code>{code}</code> },
  ];
  return (
    <section className="panel stack">
      <h2>Events and payouts</h2>
      <DataTable
        caption="Events and payouts"
        columns={columns}
        rows={offer.events}
        keyOf={({ id }) => String(id)}
      />
    </section>
  );
}

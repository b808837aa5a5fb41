import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";

/** Somebody who sends a test looks here whether it has arrived. */
const POLL_MS = 5_000;

type OwnEvent = components["schemas"]["OwnEvent"];

/** What arrived for each event of the advertiser's offers. */
export function ReceivedEvents(): ReactElement {
  const { api, zone } = useMembership();
  const columns: readonly Column<OwnEvent>[] = [
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
    { name: "event", title: "Event", cell: (row) => <code>{row.event_code}</code> },
    {
      name: "last",
      title: "Last call",
      cell: ({ last_at: at }) => (at === null ? "none in 7 days" : formatInstant(at, zone)),
    },
    { name: "day", title: "24 hours", isNumber: true, cell: (row) => row.last_24h.received },
    { name: "week", title: "7 days", isNumber: true, cell: (row) => row.last_7d.received },
    { name: "good", title: "Approved", isNumber: true, cell: (row) => row.last_7d.approved },
    {
      name: "errors",
      title: "Refused",
      cell: ({ last_7d: { errors } }) =>
        Object.entries(errors)
          .map(([result, count]) => `${result.replaceAll("_", " ")}: ${String(count)}`)
          .join(", "),
    },
  ];
  return (
    <RecordList<OwnEvent>
      title="Received calls"
      name="own-events"
      everyMs={POLL_MS}
      load={async (query, signal) =>
        await read(api.GET("/me/events", { params: { query: fromAddress(query) }, signal }))
      }
      columns={columns}
      keyOf={(row) => String(row.event_id)}
      nothing={<strong>No offers yet</strong>}
    />
  );
}

import type { ReactElement } from "react";
import { Link, useLocation } from "wouter";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { affiliateIdChoices, offerIdChoices } from "../../client/choices.ts";
import { fromAddress, type Query } from "../../client/lists.ts";
import { firingWords } from "../../format/value-words.ts";
import { useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";

type Postback = components["schemas"]["Postback"];

const COLUMNS: readonly Column<Postback>[] = [
  { name: "url", title: "Address", opens: true, cell: ({ url }) => <StrangerText text={url} /> },
  { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
  { name: "when", title: "When", cell: (row) => firingWords(row.fire_on) },
  { name: "event", title: "Event", cell: (row) => row.event_code ?? "Every event" },
];
const OFFER: Column<Postback> = {
  name: "offer",
  title: "Offer",
  cell: ({ offer_id: id }) =>
    id === null ? (
      "Every offer"
    ) : (
      <RecordLink path="/offers" id={id}>
        <RecordName of={offerIdChoices} id={id} />
      </RecordLink>
    ),
};
const PARTNER: Column<Postback> = {
  name: "partner",
  title: "Partner",
  cell: ({ affiliate_id: id }) =>
    id === null ? (
      "Every partner"
    ) : (
      <RecordLink path="/partners" id={id}>
        <RecordName of={affiliateIdChoices} id={id} />
      </RecordLink>
    ),
};

/** Postbacks of one offer or partner. They are changed on the screen of all postbacks. */
export function PostbacksOf({
  of,
}: {
  /** The filter that leaves only these postbacks. */
  readonly of: Query;
}): ReactElement {
  const { api, base } = useMembership();
  const [, go] = useLocation();
  const other = of["offer_id"] === undefined ? OFFER : PARTNER;
  return (
    <RecordList<Postback>
      title="Postbacks"
      name="postbacks"
      fixed={of}
      load={async (query, signal) =>
        await read(api.GET("/postbacks", { params: { query: fromAddress(query) }, signal }))
      }
      columns={[...COLUMNS, other]}
      keyOf={({ id }) => String(id)}
      onOpen={({ id }) => go(`${base}/integrations?open=${id}`)}
      nothing={
        <>
          <strong>No postbacks yet</strong>
          <p className="muted">A postback notifies a partner's server about each conversion.</p>
        </>
      }
      actions={
        <Link className="button" href={`${base}/integrations`}>
          All postbacks
        </Link>
      }
    />
  );
}

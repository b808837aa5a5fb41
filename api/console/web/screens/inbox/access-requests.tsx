import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatCount } from "../../format/figure.ts";
import { formatInstant } from "../../format/time.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import { ATTENTION_MS } from "../../member/use-attention.ts";
import type { Column } from "../../parts/data-table.tsx";
import { type Answer, Decision } from "../../parts/decision.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { useDecide } from "../../records/bulk.ts";
import { RecordLink } from "../../records/record-link.tsx";
import { type ChosenRows, RecordList } from "../../records/record-list.tsx";
import type { SkippedRow } from "../../records/send-rows.ts";

/** As many as one request may decide. */
const ITEMS_MAX = 200;

/** The kind of decisions about requests. */
const REQUESTS = "access-requests";

type AccessRequest = components["schemas"]["AccessRequest"];

const REPLY: Column<AccessRequest> = {
  name: "reply",
  title: "Your message",
  cell: (row) => <StrangerText text={row.reply} />,
};

/** Partners who ask to run an offer. */
export function AccessRequests({ status }: { readonly status: string }): ReactElement {
  const membership = useMembership();
  const { api, zone, role } = membership;
  const mayDecide =
    role === "admin" &&
    (mayDo(membership, "offers.write") || mayDo(membership, "affiliates.write"));
  const columns: readonly Column<AccessRequest>[] = [
    {
      name: "partner",
      title: "Partner",
      cell: (row) => (
        <RecordLink path="/partners" id={row.affiliate_id}>
          <StrangerText text={row.affiliate_name} />
        </RecordLink>
      ),
    },
    {
      name: "offer",
      title: "Offer",
      cell: (row) => (
        <RecordLink path="/offers" id={row.offer_id}>
          <StrangerText text={row.offer_name} />
        </RecordLink>
      ),
    },
    { name: "status", title: "Status", cell: (row) => <StatusBadge status={row.status} /> },
    {
      name: "asked",
      title: "Asked",
      cell: ({ requested_at: at }) => (at === null ? "" : formatInstant(at, zone)),
    },
    { name: "message", title: "Message", cell: (row) => <StrangerText text={row.message} /> },
    ...(status === "pending" ? [] : [REPLY]),
  ];
  return (
    <RecordList<AccessRequest>
      title="Requests for access"
      name="access-requests"
      fixed={{ status }}
      load={async (query, signal) =>
        await read(api.GET("/access-requests", { params: { query: fromAddress(query) }, signal }))
      }
      columns={columns}
      keyOf={keyOf}
      decided={REQUESTS}
      everyMs={ATTENTION_MS}
      nothing={<p className="muted">No partner waits for access to an offer.</p>}
      {...(mayDecide ? { bulk: (rows, chosen) => <Decide rows={rows} chosen={chosen} /> } : {})}
    />
  );
}

type Decided = { readonly status: Answer; readonly note: string; readonly reply: string };

function Decide({
  rows,
  chosen,
}: {
  readonly rows: readonly AccessRequest[];
  readonly chosen: ChosenRows;
}): ReactElement {
  const { api } = useMembership();
  const decide = useDecide<AccessRequest, Decided>({
    kind: REQUESTS,
    keyOf,
    what: requestsInWords,
    names: ["access-requests", "offer-access", "affiliate-offers"],
    size: ITEMS_MAX,
    // The service itself decides only what still waits, and tells what a colleague has decided.
    send: async (part, { status, note, reply }, isLeaving) => {
      const items = part.map(({ offer_id, affiliate_id }) => ({ offer_id, affiliate_id }));
      const body = {
        items,
        status,
        ...(note === "" ? {} : { note }),
        ...(reply === "" ? {} : { reply }),
      };
      const { data } = await read(api.PATCH("/access-requests", { body, keepalive: isLeaving }));
      const skip = (item: (typeof items)[number], why: string): SkippedRow[] =>
        part.filter(isRequest(item)).map((row) => ({
          key: keyOf(row),
          name: `${row.affiliate_name}, ${row.offer_name}`,
          why,
        }));
      return [
        ...data.skipped.flatMap((item) => skip(item, `already ${item.status}`)),
        ...data.not_found.flatMap((item) => skip(item, "is no longer there")),
      ];
    },
  });
  return (
    <Decision
      label="Note for the staff"
      toPartner="Message to the partner"
      statuses={rows.map(({ status }) => status)}
      onDecide={(status, note, reply) => {
        const button = status === "approved" ? "Approve" : "Reject";
        decide(rows, { to: { status, note, reply }, verb: status, button }, chosen.onBack);
        chosen.onDecided();
      }}
    />
  );
}

function keyOf(row: AccessRequest): string {
  return `${row.offer_code} ${row.affiliate_code}`;
}

function isRequest(item: { readonly offer_id: number; readonly affiliate_id: number }) {
  return (row: AccessRequest): boolean =>
    row.offer_id === item.offer_id && row.affiliate_id === item.affiliate_id;
}

function requestsInWords(rows: readonly AccessRequest[]): string {
  const [first, ...others] = rows;
  if (first === undefined) return "No request for access";
  return others.length === 0
    ? `Request of ${first.affiliate_name} for ${first.offer_name}`
    : `${formatCount(rows.length)} requests for access`;
}

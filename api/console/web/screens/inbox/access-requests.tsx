import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { formatInstant } from "../../format/time.ts";
import { mayDo, useMembership } from "../../member/membership.ts";
import type { Column } from "../../parts/data-table.tsx";
import { type Decided, Decision } from "../../parts/decision.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { type BulkReport, useBulk } from "../../records/bulk.ts";
import { BulkProgress } from "../../records/bulk-parts.tsx";
import { RecordLink } from "../../records/record-link.tsx";
import { RecordList } from "../../records/record-list.tsx";

/** As many as one request may decide. */
const ITEMS_MAX = 200;

type AccessRequest = components["schemas"]["AccessRequest"];

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
      keyOf={(row) => `${row.offer_code} ${row.affiliate_code}`}
      nothing={<p className="muted">No partner waits for access to an offer.</p>}
      {...(mayDecide ? { bulk: (rows, done) => <Decide rows={rows} onDone={done} /> } : {})}
    />
  );
}

function Decide({
  rows,
  onDone,
}: {
  readonly rows: readonly AccessRequest[];
  readonly onDone: (report: BulkReport) => void;
}): ReactElement {
  const { api } = useMembership();
  const bulk = useBulk<AccessRequest, { readonly status: Decided; readonly note: string }>({
    rows,
    names: ["access-requests", "attention"],
    size: ITEMS_MAX,
    onDone,
    send: async (part, { status, note }) => {
      const items = part.map(({ offer_id, affiliate_id }) => ({ offer_id, affiliate_id }));
      const body = { items, status, ...(note === "" ? {} : { note }) };
      const { data } = await read(api.PATCH("/access-requests", { body }));
      const nameOf = (item: (typeof items)[number]): string => {
        const row = part.find(
          (one) => one.offer_id === item.offer_id && one.affiliate_id === item.affiliate_id,
        );
        return `${row?.affiliate_name ?? ""}, ${row?.offer_name ?? ""}`;
      };
      return [
        ...data.skipped.map((item) => ({ name: nameOf(item), why: `was ${item.status} already` })),
        ...data.not_found.map((item) => ({ name: nameOf(item), why: "is no longer there" })),
      ];
    },
  });
  return (
    <>
      <Decision
        label="Note for the staff"
        isSending={bulk.isSending}
        error={null}
        onDecide={(status, note) => bulk.start({ status, note })}
      />
      <BulkProgress bulk={bulk} count={rows.length} />
    </>
  );
}

import type { ReactElement } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { fromAddress } from "../../client/lists.ts";
import { useWrite } from "../../client/use-write.ts";
import { formatInstant } from "../../format/time.ts";
import type { Column } from "../../parts/data-table.tsx";
import { type Decided, Decision } from "../../parts/decision.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { mayDo, useMembership } from "../../session/membership.ts";

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
      cell: (row) => <StrangerText text={row.affiliate_name} />,
    },
    { name: "offer", title: "Offer", cell: (row) => <StrangerText text={row.offer_name} /> },
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
  readonly onDone: () => void;
}): ReactElement {
  const { api } = useMembership();
  const decide = useWrite(
    ["access-requests", "attention"],
    async ({ status, note }: { readonly status: Decided; readonly note: string }) => {
      const items = rows.map(({ offer_id, affiliate_id }) => ({ offer_id, affiliate_id }));
      const body = { items, status, ...(note === "" ? {} : { note }) };
      await read(api.PATCH("/access-requests", { body }));
      onDone();
    },
  );
  return (
    <Decision
      label="Note to the partner"
      isSending={decide.isPending}
      error={decide.error}
      onDecide={(status, note) => decide.mutate({ status, note })}
    />
  );
}

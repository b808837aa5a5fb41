import type { ReactElement } from "react";
import { Link } from "wouter";
import type { components } from "../../../../.build/console/openapi.ts";
import { read } from "../client/api-client.ts";
import { allPages, fromAddress, type Query } from "../client/lists.ts";
import { formatInstant } from "../format/time.ts";
import { useMembership } from "../member/membership.ts";
import { hasRight } from "../member/rights.ts";
import type { Column } from "../parts/data-table.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { StrangerText } from "../parts/stranger-text.tsx";
import { RecordList } from "../records/record-list.tsx";

type Member = components["schemas"]["Member"];
type Key = components["schemas"]["Key"];

/** Who may sign in for a partner or advertiser, and its keys of programs. */
export function AccountPeople({
  of,
}: {
  /** The filter that leaves only this account. */
  readonly of: Query;
}): ReactElement {
  const membership = useMembership();
  const { api, base, zone } = membership;
  const seen = (at: string | null): string => (at === null ? "Never" : formatInstant(at, zone));
  const people: readonly Column<Member>[] = [
    { name: "name", title: "Name", cell: ({ name }) => <StrangerText text={name} /> },
    { name: "email", title: "E-mail", cell: ({ email }) => <StrangerText text={email} /> },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    { name: "seen", title: "Last seen", cell: (row) => seen(row.last_seen_at) },
  ];
  const keys: readonly Column<Key>[] = [
    { name: "name", title: "Name", cell: ({ name }) => <StrangerText text={name} /> },
    {
      name: "state",
      title: "State",
      cell: (row) => <StatusBadge status={row.revoked_at === null ? "active" : "inactive"} />,
    },
    { name: "used", title: "Last used", cell: (row) => seen(row.last_used_at) },
  ];
  return (
    <>
      <RecordList<Member>
        title="People"
        name="members"
        fixed={of}
        load={async (query, signal) => {
          // The list of the API has everybody of the workspace, and no filter.
          const all = await allPages(
            async (page) => await read(api.GET("/members", { params: { query: page }, signal })),
          );
          return { data: all.filter((member) => belongsTo(member, query)) };
        }}
        columns={people}
        keyOf={({ id }) => String(id)}
        nothing={<strong>Nobody signs in for it yet</strong>}
        actions={
          <Link className="button" href={`${base}/workspace/people`}>
            Invite and change people
          </Link>
        }
      />
      {hasRight(membership, "everything") && (
        <RecordList<Key>
          title="API keys"
          name="keys"
          fixed={of}
          load={async (query, signal) =>
            await read(api.GET("/keys", { params: { query: fromAddress(query) }, signal }))
          }
          columns={keys}
          keyOf={({ id }) => String(id)}
          nothing={<strong>No keys yet</strong>}
          actions={
            <Link className="button" href={`${base}/workspace/keys`}>
              All keys
            </Link>
          }
        />
      )}
    </>
  );
}

function belongsTo(
  { affiliate_id: affiliate = null, advertiser_id: advertiser = null }: Member,
  of: Query,
): boolean {
  return (
    String(affiliate) === of["affiliate_id"] ||
    (advertiser !== null && String(advertiser) === of["advertiser_id"])
  );
}

import { Plus } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { components } from "../../../../../.build/console/openapi.ts";
import { read } from "../../client/api-client.ts";
import { advertiserChoices, affiliateIdChoices } from "../../client/choices.ts";
import { fromAddress } from "../../client/lists.ts";
import { ROLE_WORDS } from "../../format/role.ts";
import { formatInstant } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import { useWrite } from "../../member/use-write.ts";
import type { Column } from "../../parts/data-table.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { RecordList } from "../../records/record-list.tsx";
import { RecordName } from "../../records/record-name.tsx";
import { rolesToGrant } from "./grant.ts";
import { InvitePerson } from "./invite-person.tsx";
import type { Member } from "./member.ts";
import { MemberDrawer } from "./member-drawer.tsx";

type Invitation = components["schemas"]["Invitation"];

/** People of the workspace or the account, and invitations. */
export function Members(): ReactElement {
  const membership = useMembership();
  const [isNew, setNew] = useState(false);
  const roles = rolesToGrant(membership);
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">People</h1>
        {roles.length > 0 && (
          <button type="button" className="button first" onClick={() => setNew(true)}>
            <Plus size={14} aria-hidden /> Invite
          </button>
        )}
      </div>
      <MemberList mayChange={membership.role === "admin" && hasRight(membership, "everything")} />
      <InvitationList roles={roles} />
      {isNew && <InvitePerson onClose={() => setNew(false)} />}
    </>
  );
}

function MemberList({ mayChange }: { readonly mayChange: boolean }): ReactElement {
  const { api, zone, session } = useMembership();
  const [open, setOpen] = useState<Member>();
  const change = useWrite(["members"], async ({ id, status }: Member) => {
    const body = { status: status === "active" ? "inactive" : "active" } as const;
    await read(api.PATCH("/members/{id}", { params: { path: { id } }, body }));
  });
  const columns: readonly Column<Member>[] = [
    { name: "name", title: "Name", cell: (row) => <StrangerText text={row.name} /> },
    {
      name: "email",
      title: "E-mail",
      cell: (row) => (
        <>
          <StrangerText text={row.email} />
          {!row.email_proved && <span className="muted"> not proved</span>}
        </>
      ),
    },
    { name: "role", title: "Role", cell: (row) => <Granted {...row} /> },
    { name: "status", title: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      name: "factor",
      title: "Second factor",
      cell: (row) => (row.has_second_factor ? "Yes" : "No"),
    },
    {
      name: "seen",
      title: "Last seen",
      cell: ({ last_seen_at: at }) => (at === null ? "Never" : formatInstant(at, zone)),
    },
    {
      name: "actions",
      title: "",
      cell: (row) =>
        mayChange &&
        row.person_id !== session.person.id && (
          <span className="row">
            <button
              type="button"
              className="button plain"
              aria-label={`Change ${row.name}`}
              onClick={() => setOpen(row)}
            >
              Change
            </button>
            <button
              type="button"
              className="button plain"
              disabled={change.isPending}
              onClick={() => change.mutate(row)}
            >
              {row.status === "active" ? "Deactivate" : "Activate"}
            </button>
          </span>
        ),
    },
  ];
  return (
    <>
      {change.isError && <ProblemNotice error={change.error} />}
      <RecordList<Member>
        title="Members"
        name="members"
        load={async (query, signal) =>
          await read(api.GET("/members", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={<strong>Nobody yet</strong>}
      />
      {open !== undefined && <MemberDrawer member={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function InvitationList({
  roles,
}: {
  /** Whom the member may let in, and so whose invitations it may end. */
  readonly roles: readonly Invitation["role"][];
}): ReactElement {
  const { api, zone } = useMembership();
  const revoke = useWrite(["invitations"], async (id: number) => {
    await read(api.DELETE("/invitations/{id}", { params: { path: { id } } }));
  });
  const columns: readonly Column<Invitation>[] = [
    { name: "email", title: "E-mail", cell: (row) => <StrangerText text={row.email} /> },
    { name: "role", title: "Role", cell: (row) => <Granted {...row} /> },
    { name: "state", title: "State", cell: (row) => <StatusBadge status={stateOf(row)} /> },
    { name: "ends", title: "Ends", cell: (row) => formatInstant(row.expires_at, zone) },
    {
      name: "actions",
      title: "",
      cell: (row) =>
        roles.includes(row.role) &&
        row.used_at === null &&
        row.revoked_at === null && (
          <button
            type="button"
            className="button plain"
            disabled={revoke.isPending}
            onClick={() => revoke.mutate(row.id)}
          >
            Revoke
          </button>
        ),
    },
  ];
  return (
    <>
      {revoke.isError && <ProblemNotice error={revoke.error} />}
      <RecordList<Invitation>
        title="Invitations"
        name="invitations"
        load={async (query, signal) =>
          await read(api.GET("/invitations", { params: { query: fromAddress(query) }, signal }))
        }
        columns={columns}
        keyOf={({ id }) => String(id)}
        nothing={<p className="muted">No invitations.</p>}
      />
    </>
  );
}

/** The role, with the account for partners and advertisers. */
function Granted({
  role,
  affiliate_id: partner,
  advertiser_id: advertiser,
}: Pick<Invitation, "role" | "affiliate_id" | "advertiser_id">): ReactElement {
  const reader = useMembership().role;
  // People of an account see only their own colleagues.
  const isStaff = reader === "admin" || reader === "analyst";
  const [of, id] =
    typeof partner === "number"
      ? [affiliateIdChoices, partner]
      : [advertiserChoices, advertiser ?? 0];
  return (
    <>
      {ROLE_WORDS[role]}
      {isStaff && id !== 0 && (
        <span className="muted">
          {" "}
          <RecordName of={of} id={id} />
        </span>
      )}
    </>
  );
}

function stateOf({ used_at: used, revoked_at: revoked, expires_at: ends }: Invitation): string {
  if (used !== null) return "accepted";
  if (revoked !== null) return "revoked";
  return new Date(ends).getTime() < Date.now() ? "expired" : "pending";
}

import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Position } from "../operation/cursor.ts";
import type { Principal } from "../operation/principal.ts";
import {
  hashesOf,
  LINK_COLUMNS,
  LINK_HOURS,
  LINK_TABLES,
  type LinkRow,
  type LinkTokens,
} from "./links.ts";
import { ownerOf, scopeValues } from "./members.ts";

/** Each invitation is judged by itself. Whoever has more opens the link of one of them. */
const OPEN_OF_EMAIL_MAX = 100;

/** In the caller's workspace; people of an account see their own account only. */
const SCOPE = `l.kind = 'invitation' and l.workspace_id = $1 and ($2::integer is null or l.affiliate_id = $2)
  and ($3::integer is null or l.advertiser_id = $3)`;

const PAGE = `l.kind = 'invitation' and (l.created_at, l.id) < ($2::timestamptz, $3::integer)
  order by l.created_at desc, l.id desc limit $4`;
const LISTS = {
  workspace: {
    name: "list-invitations",
    text: `select ${LINK_COLUMNS} from ${LINK_TABLES} where l.workspace_id = $1 and ${PAGE}`,
  },
  affiliate: {
    name: "list-invitations-of-affiliate",
    text: `select ${LINK_COLUMNS} from ${LINK_TABLES} where l.affiliate_id = $1 and ${PAGE}`,
  },
  advertiser: {
    name: "list-invitations-of-advertiser",
    text: `select ${LINK_COLUMNS} from ${LINK_TABLES} where l.advertiser_id = $1 and ${PAGE}`,
  },
} as const;

/** Newest first, also invitations that were used, revoked or are over. */
export async function listInvitations(
  db: Queryable,
  principal: Principal,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<LinkRow[]> {
  const { kind, id } = ownerOf(principal);
  const { rows } = await db.query<LinkRow>({
    ...LISTS[kind],
    values: [id, page.after?.at ?? "infinity", page.after?.id ?? 0, page.rowsMax],
  });
  return rows;
}

export async function findInvitation(
  db: Queryable,
  principal: Principal,
  id: number,
): Promise<LinkRow | undefined> {
  const { rows } = await db.query<LinkRow>({
    name: "find-invitation",
    text: `select ${LINK_COLUMNS} from ${LINK_TABLES} where ${SCOPE} and l.id = $4`,
    values: [...scopeValues(principal), id],
  });
  return rows[0];
}

/** Whether the workspace has as many open invitations as it may have. */
export async function hasTooManyInvitations(
  db: Queryable,
  workspaceId: number,
  max: number,
): Promise<boolean> {
  const { rows } = await db.query<{ is_full: boolean }>({
    name: "has-too-many-invitations",
    text: `select count(*) >= $2 as is_full from one_time_link
           where workspace_id = $1 and kind = 'invitation' and used_at is null and revoked_at is null and expires_at > now()`,
    values: [workspaceId, max],
  });
  return rows[0]?.is_full === true;
}

/** Voids both earlier tokens and starts the time anew. False if somebody has joined by it. */
export async function renewInvitation(
  db: Queryable,
  {
    id,
    tokens,
    madeBy,
  }: {
    readonly id: number;
    readonly tokens: LinkTokens;
    readonly madeBy: number;
  },
): Promise<boolean> {
  const { rows } = await db.query({
    name: "renew-invitation",
    text: `update one_time_link set secret_hash = $2, mailed_hash = $3, made_by = $4, revoked_at = null,
             expires_at = now() + make_interval(hours => $5)
           where id = $1 and used_at is null returning id`,
    values: [id, ...hashesOf(tokens), madeBy, LINK_HOURS.invitation],
  });
  return rows.length > 0;
}

/** False if somebody has joined by it. */
export async function revokeInvitation(db: Queryable, id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: "revoke-invitation",
    text: `update one_time_link set revoked_at = coalesce(revoked_at, now())
           where id = $1 and used_at is null returning id`,
    values: [id],
  });
  return rows.length > 0;
}

/**
 * Revokes the open invitations of somebody whose rights `principal` changes, whoever made them: of the workspace, or of the account whose
 * people `principal` belongs to.
 */
export async function revokeInvitationsFor(
  tx: Queryable,
  principal: Principal,
  email: string,
): Promise<void> {
  await tx.query({
    name: "revoke-invitations-for",
    text: `update one_time_link l set revoked_at = now()
           where ${SCOPE} and lower(l.email) = lower($4) and l.used_at is null and l.revoked_at is null`,
    values: [...scopeValues(principal), email],
  });
}

/** The newest open invitations of an e-mail, by workspace, except for the role admin, which needs the link itself. */
export async function listOpenInvitationsFor(db: Queryable, email: string): Promise<LinkRow[]> {
  const { rows } = await db.query<LinkRow>({
    name: "list-open-invitations-for",
    text: `with newest as (
             select id from one_time_link
             where kind = 'invitation' and lower(email) = lower($1) and role <> 'admin'
               and used_at is null and revoked_at is null and expires_at > now()
             order by id desc limit $2)
           select ${LINK_COLUMNS} from ${LINK_TABLES} join newest on newest.id = l.id order by l.workspace_id, l.id`,
    values: [email, OPEN_OF_EMAIL_MAX],
  });
  return rows;
}

/** False if it has been used, revoked or renewed meanwhile. */
export async function useInvitation(
  tx: Queryable,
  { id, made_by: madeBy }: LinkRow,
): Promise<boolean> {
  const { rows } = await tx.query({
    name: "use-invitation",
    text: `update one_time_link set used_at = now()
           where id = $1 and made_by is not distinct from $2 and used_at is null and revoked_at is null and expires_at > now()
           returning id`,
    values: [id, madeBy],
  });
  return rows.length > 0;
}

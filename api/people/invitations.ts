import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Principal } from "../access/principal.ts";
import { hashOfToken } from "../access/session-tokens.ts";
import type { Position } from "../rest/cursor.ts";
import { LINK_COLUMNS, LINK_HOURS, LINK_TABLES, type LinkRow } from "./links.ts";
import { ownerOf, scopeValues } from "./members.ts";

/** Of the caller's workspace; people of an account see their own account only. */
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

/** Newest first, also those that were used, revoked or are over. */
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

/** Voids the earlier link and starts another time. False if somebody has joined by it. */
export async function renewInvitation(
  db: Queryable,
  { id, token, madeBy }: { readonly id: number; readonly token: string; readonly madeBy: number },
): Promise<boolean> {
  const { rows } = await db.query({
    name: "renew-invitation",
    text: `update one_time_link set secret_hash = $2, made_by = $3, revoked_at = null,
             expires_at = now() + make_interval(hours => $4)
           where id = $1 and used_at is null returning id`,
    values: [id, hashOfToken(token), madeBy, LINK_HOURS.invitation],
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

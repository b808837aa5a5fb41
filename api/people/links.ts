import { randomBytes } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Role } from "../access/permissions.ts";
import { hashOfToken } from "../access/session-tokens.ts";

const TOKEN_BYTES = 32;

/** Hours until a link ends. */
export const LINK_HOURS = { first_admin: 24, invitation: 7 * 24, reset: 1 } as const;
export type LinkKind = keyof typeof LINK_HOURS;

/** What a link grants. */
export type NewLink = {
  readonly kind: LinkKind;
  readonly personId?: number;
  readonly workspaceId?: number | undefined;
  readonly email?: string;
  readonly role?: Role;
  readonly affiliateId?: number | null | undefined;
  readonly advertiserId?: number | null | undefined;
  readonly permissions?: readonly string[] | null | undefined;
  /** Undefined for the command line. */
  readonly madeBy?: number;
};

export type LinkRow = {
  id: number;
  kind: LinkKind;
  person_id: number | null;
  workspace_id: number | null;
  workspace_name: string | null;
  email: string | null;
  role: Role | null;
  affiliate_id: number | null;
  affiliate_name: string | null;
  advertiser_id: number | null;
  advertiser_name: string | null;
  permissions: string[] | null;
  made_by: number | null;
  inviter_name: string | null;
  created_at: string;
  expires_at: string;
  used_at: string | null;
  revoked_at: string | null;
};

export const LINK_COLUMNS = `l.id, l.kind, l.person_id, l.workspace_id, w.name as workspace_name, l.email, l.role, l.affiliate_id,
  f.name as affiliate_name, l.advertiser_id, a.name as advertiser_name, l.permissions, l.made_by, p.name as inviter_name, l.created_at,
  l.expires_at, l.used_at, l.revoked_at`;
export const LINK_TABLES = `one_time_link l left join workspace w on w.id = l.workspace_id left join affiliate f on f.id = l.affiliate_id
  left join advertiser a on a.id = l.advertiser_id left join person p on p.id = l.made_by`;

/** 256 bits; stands behind `#` in the link, so that it reaches no server's log. */
export function mintLinkToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** The address to open. */
export function linkTo(apiUrl: string, token: string): string {
  return `${apiUrl}/console/join#${token}`;
}

export async function insertLink(db: Queryable, token: string, link: NewLink): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-one-time-link",
    text: `insert into one_time_link (secret_hash, kind, person_id, workspace_id, email, role, affiliate_id, advertiser_id,
             permissions, made_by, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + make_interval(hours => $11)) returning id`,
    values: [
      hashOfToken(token),
      link.kind,
      link.personId ?? null,
      link.workspaceId ?? null,
      link.email ?? null,
      link.role ?? null,
      link.affiliateId ?? null,
      link.advertiserId ?? null,
      link.permissions ?? null,
      link.madeBy ?? null,
      LINK_HOURS[link.kind],
    ],
  });
  return rows[0]?.id ?? 0;
}

/** Undefined if the link is unknown, used, revoked or over. */
export async function findLiveLink(db: Queryable, token: string): Promise<LinkRow | undefined> {
  const { rows } = await db.query<LinkRow>({
    name: "find-live-link",
    text: `select ${LINK_COLUMNS} from ${LINK_TABLES}
           where l.secret_hash = $1 and l.used_at is null and l.revoked_at is null and l.expires_at > now()`,
    values: [hashOfToken(token)],
  });
  return rows[0];
}

/** Uses up a link. Of several at the same time, one gets true. */
export async function useLink(db: Queryable, token: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "use-link",
    text: `update one_time_link set used_at = now()
           where secret_hash = $1 and used_at is null and revoked_at is null and expires_at > now() returning id`,
    values: [hashOfToken(token)],
  });
  return rows.length > 0;
}

/** Revokes open links of this kind: all of the first admin, or those for one person. */
export async function revokeLinks(
  db: Queryable,
  kind: "first_admin" | "reset",
  personId: number | null = null,
): Promise<void> {
  await db.query({
    name: "revoke-links",
    text: `update one_time_link set revoked_at = now()
           where kind = $1 and person_id is not distinct from $2 and used_at is null and revoked_at is null`,
    values: [kind, personId],
  });
}

/** Revokes what somebody who may no longer invite has granted in a workspace. */
export async function revokeInvitationsBy(
  db: Queryable,
  personId: number,
  workspaceId: number,
): Promise<void> {
  await db.query({
    name: "revoke-invitations-by",
    text: `update one_time_link set revoked_at = now()
           where kind = 'invitation' and made_by = $1 and workspace_id = $2 and used_at is null and revoked_at is null`,
    values: [personId, workspaceId],
  });
}

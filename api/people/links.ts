import { randomBytes } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { hashOfToken } from "../access/session-tokens.ts";
import type { Role } from "../operation/permissions.ts";

const TOKEN_BYTES = 32;

/** Hours until a link ends. */
export const LINK_HOURS = { first_admin: 24, invitation: 7 * 24, reset: 1 } as const;
export type LinkKind = keyof typeof LINK_HOURS;

/** What a link grants. */
export type NewLink = {
  readonly kind: LinkKind;
  readonly personId?: number;
  readonly workspaceId?: number | undefined;
  /** For an invitation and a reset: a link is for one address. */
  readonly email?: string;
  readonly role?: Role;
  readonly affiliateId?: number | null | undefined;
  readonly advertiserId?: number | null | undefined;
  readonly permissions?: readonly string[] | null | undefined;
  /** Undefined for the command line, and for somebody who has asked for a mail. */
  readonly madeBy?: number;
};

/**
 * A link has up to two tokens, and either uses it up. The token that the link's maker is shown may go anywhere. The other token goes only
 * into a mail, so whoever has it reads the mailbox.
 */
export type LinkTokens = {
  readonly shown?: string | undefined;
  readonly mailed?: string | undefined;
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

export type FoundLink = LinkRow & {
  is_over: boolean;
  /** Whether it was found by the token that was mailed. */
  is_mailed: boolean;
};

/** Whether a link is the word of the operator, who has the command line. */
function isOfOperator({ made_by: madeBy, is_mailed: isMailed }: FoundLink): boolean {
  return madeBy === null && !isMailed;
}

/** Whether whoever uses the link proves to read the mailbox of its e-mail, as far as the operator may say so as well. */
export function provesEmail(link: FoundLink): boolean {
  return link.is_mailed || isOfOperator(link);
}

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

/** The values of `secret_hash` and `mailed_hash`. A link that its maker is not shown gets a hash that no token has. */
export function hashesOf({ shown, mailed }: LinkTokens): readonly [Buffer, Buffer | null] {
  return [
    shown === undefined ? randomBytes(TOKEN_BYTES) : hashOfToken(shown),
    mailed === undefined ? null : hashOfToken(mailed),
  ];
}

/** What a person is allowed, in a form that differs after every change. `p` is the person. */
export const RIGHTS_OF_PERSON = `encode(sha256(convert_to(p.is_operator || coalesce((
  select string_agg(format(' %s/%s %s %s %s %s %s', m.id, m.version, m.role, m.affiliate_id, m.advertiser_id, m.permissions, m.status), ''
    order by m.id)
  from membership m where m.person_id = p.id), ''), 'UTF8')), 'hex')`;

export async function insertLink(
  db: Queryable,
  tokens: LinkTokens,
  link: NewLink,
): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-one-time-link",
    text: `insert into one_time_link (secret_hash, mailed_hash, kind, person_id, workspace_id, email, role, affiliate_id, advertiser_id,
             permissions, made_by, expires_at, person_rights)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + make_interval(hours => $12),
             (select ${RIGHTS_OF_PERSON} from person p where p.id = $4)) returning id`,
    values: [
      ...hashesOf(tokens),
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

/** Finds a link by either token, whether it can still be used or not. */
export async function findLink(db: Queryable, token: string): Promise<FoundLink | undefined> {
  const { rows } = await db.query<FoundLink>({
    name: "find-link",
    text: `select ${LINK_COLUMNS}, l.expires_at <= now() as is_over, coalesce(l.mailed_hash = $1, false) as is_mailed
           from ${LINK_TABLES} where l.secret_hash = $1 or l.mailed_hash = $1`,
    values: [hashOfToken(token)],
  });
  return rows[0];
}

/** Uses up a link by either token. If several try at the same time, one gets true. */
export async function useLink(db: Queryable, token: string): Promise<boolean> {
  const { rows } = await db.query({
    name: "use-link",
    text: `update one_time_link set used_at = now()
           where (secret_hash = $1 or mailed_hash = $1) and used_at is null and revoked_at is null and expires_at > now()
           returning id`,
    values: [hashOfToken(token)],
  });
  return rows.length > 0;
}

/** Revokes open links of this kind: all for the first admin, or all for one person. */
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

/** Revokes what somebody who may no longer let people in has made in a workspace: invitations, and resets of its people. */
export async function revokeLinksBy(
  db: Queryable,
  personId: number,
  workspaceId: number,
): Promise<void> {
  await db.query({
    name: "revoke-links-by",
    text: `update one_time_link l set revoked_at = now()
           where made_by = $1 and used_at is null and revoked_at is null
             and (workspace_id = $2
               or exists (select from membership m where m.person_id = l.person_id and m.workspace_id = $2))`,
    values: [personId, workspaceId],
  });
}

import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Position } from "../operation/cursor.ts";
import type { Role } from "../operation/permissions.ts";
import type { Principal } from "../operation/principal.ts";
import { EMAIL_PROVED } from "./people.ts";

const OWN_MAX = 1_000;

export type MemberRow = {
  id: number;
  person_id: number;
  name: string;
  email: string;
  email_proved: boolean;
  role: Role;
  affiliate_id: number | null;
  advertiser_id: number | null;
  user_id: number | null;
  permissions: string[] | null;
  status: "active" | "inactive";
  version: number;
  has_second_factor: boolean;
  last_seen_at: string | null;
  created_at: string;
  updated_at: string;
};

/** Subqueries of one row each: Postgres would answer `exists` for a page by reading whole tables. */
const COLUMNS = `m.id, m.person_id, p.name, p.email, ${EMAIL_PROVED}, m.role, m.affiliate_id, m.advertiser_id, m.user_id, m.permissions, m.status,
  m.version, coalesce((select true from totp t where t.person_id = p.id and t.confirmed_at is not null limit 1),
    (select true from passkey k where k.person_id = p.id limit 1), false) as has_second_factor,
  (select max(s.last_seen_at) from session s where s.person_id = p.id) as last_seen_at, m.created_at, m.updated_at`;
const TABLES = "membership m join person p on p.id = m.person_id";
/** In the caller's workspace; people of an account see their own account only. */
const SCOPE = `m.workspace_id = $1 and ($2::integer is null or m.affiliate_id = $2)
  and ($3::integer is null or m.advertiser_id = $3)`;

/** The values of the scope: a workspace and, for people of an account, the account. */
export function scopeValues({ workspace, affiliate, advertiser }: Principal): unknown[] {
  return [workspace.id, affiliate?.id ?? null, advertiser?.id ?? null];
}

/** Statements of a list: of a workspace for staff, of an account for its people. The account belongs to one workspace. */
const PAGE = `(m.created_at, m.id) < ($2::timestamptz, $3::integer) order by m.created_at desc, m.id desc limit $4`;
const LISTS = {
  workspace: {
    name: "list-members",
    text: `select ${COLUMNS} from ${TABLES} where m.workspace_id = $1 and ${PAGE}`,
  },
  affiliate: {
    name: "list-members-of-affiliate",
    text: `select ${COLUMNS} from ${TABLES} where m.affiliate_id = $1 and ${PAGE}`,
  },
  advertiser: {
    name: "list-members-of-advertiser",
    text: `select ${COLUMNS} from ${TABLES} where m.advertiser_id = $1 and ${PAGE}`,
  },
} as const;

/** Whose people and invitations a caller sees. */
export function ownerOf({ workspace, affiliate, advertiser }: Principal): {
  readonly kind: keyof typeof LISTS;
  readonly id: number;
} {
  if (affiliate !== null) return { kind: "affiliate", id: affiliate.id };
  if (advertiser !== null) return { kind: "advertiser", id: advertiser.id };
  return { kind: "workspace", id: workspace.id };
}

/** Newest first. */
export async function listMembers(
  db: Queryable,
  principal: Principal,
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<MemberRow[]> {
  const { kind, id } = ownerOf(principal);
  const { rows } = await db.query<MemberRow>({
    ...LISTS[kind],
    values: [id, page.after?.at ?? "infinity", page.after?.id ?? 0, page.rowsMax],
  });
  return rows;
}

export async function findMember(
  db: Queryable,
  principal: Principal,
  id: number,
): Promise<MemberRow | undefined> {
  const { rows } = await db.query<MemberRow>({
    name: "find-member",
    text: `select ${COLUMNS} from ${TABLES} where ${SCOPE} and m.id = $4`,
    values: [...scopeValues(principal), id],
  });
  return rows[0];
}

export type NewMembership = {
  readonly personId: number;
  readonly workspaceId: number;
  readonly role: Role;
  readonly affiliateId?: number | null;
  readonly advertiserId?: number | null;
  readonly permissions?: readonly string[] | null;
};

/** Makes a membership, or an inactive one active again as it is granted now. Undefined if the person is a member already. */
export async function insertMembership(
  db: Queryable,
  membership: NewMembership,
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-membership",
    text: `insert into membership as m (person_id, workspace_id, role, affiliate_id, advertiser_id, permissions)
           values ($1, $2, $3, $4, $5, $6)
           on conflict (person_id, workspace_id, affiliate_id, advertiser_id) do update
             set role = excluded.role, permissions = excluded.permissions, status = 'active', version = m.version + 1,
                 updated_at = now()
             where m.status = 'inactive'
           returning id`,
    values: [
      membership.personId,
      membership.workspaceId,
      membership.role,
      membership.affiliateId ?? null,
      membership.advertiserId ?? null,
      membership.permissions ?? null,
    ],
  });
  return rows[0]?.id;
}

export type MemberChange = {
  readonly role: Role;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number | null;
  readonly user_id: number | null;
  readonly permissions: readonly string[] | null;
  readonly status: "active" | "inactive";
};

export async function updateMembership(
  db: Queryable,
  id: number,
  change: MemberChange,
): Promise<void> {
  await db.query({
    name: "update-membership",
    text: `update membership set role = $2, affiliate_id = $3, advertiser_id = $4, user_id = $5, permissions = $6, status = $7,
             version = version + 1, updated_at = clock_timestamp()
           where id = $1`,
    values: [
      id,
      change.role,
      change.affiliate_id,
      change.advertiser_id,
      change.user_id,
      change.permissions,
      change.status,
    ],
  });
}

export async function deleteMembership(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "delete-membership",
    text: "delete from membership where id = $1",
    values: [id],
  });
}

/** Whether another active person is an admin of the workspace with all permissions. */
export async function hasOtherAdmin(
  db: Queryable,
  workspaceId: number,
  exceptId: number,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: "has-other-admin",
    text: `select exists (select from ${TABLES} where m.workspace_id = $1 and m.id <> $2 and m.role = 'admin'
             and m.permissions is null and m.status = 'active' and p.status = 'active') as found`,
    values: [workspaceId, exceptId],
  });
  return rows[0]?.found === true;
}

/** The memberships of a person in a workspace: several, if the person belongs to several accounts. */
export async function listMembershipIds(
  db: Queryable,
  personId: number,
  workspaceId: number,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: "list-membership-ids",
    text: "select id from membership where person_id = $1 and workspace_id = $2 order by id limit $3",
    values: [personId, workspaceId, OWN_MAX],
  });
  return rows.map(({ id }) => id);
}

/** Locks memberships until the end of the transaction. The caller has locked the people, so that nobody else makes them members. */
export async function lockMembershipsOf(tx: Queryable, people: readonly number[]): Promise<void> {
  await tx.query({
    name: "lock-memberships-of",
    text: "select id from membership where person_id = any($1::integer[]) order by id for share",
    values: [people],
  });
}

/**
 * Whether an admin may reset the password of a person: only if he is an admin, with all permissions, of every workspace of that person,
 * and the person is not the installation's operator. Else the admin of one tenant could take over somebody in another. He has no rights in a
 * workspace that is switched off.
 */
export async function mayReset(db: Queryable, adminId: number, personId: number): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>({
    name: "may-reset-person",
    text: `select not p.is_operator and not exists (
             select from membership m where m.person_id = p.id and not exists (
               select from membership own join workspace w on w.id = own.workspace_id and w.status = 'active'
               where own.person_id = $1 and own.workspace_id = m.workspace_id and own.role = 'admin'
                 and own.permissions is null and own.status = 'active')) as may
           from person p join person maker on maker.id = $1 and maker.status = 'active' where p.id = $2`,
    values: [adminId, personId],
  });
  return rows[0]?.may === true;
}

export type OwnMembershipRow = {
  id: number;
  version: number;
  role: Role;
  permissions: string[] | null;
  workspace_id: number;
  slug: string;
  workspace_name: string;
  brand_name: string;
  timezone: string;
  currency: string;
  workspace_status: string;
  affiliate_id: number | null;
  affiliate_code: string | null;
  affiliate_name: string | null;
  affiliate_status: string | null;
  advertiser_id: number | null;
  advertiser_name: string | null;
  advertiser_status: string | null;
};

/** The active memberships of a person, in the order of their workspaces. */
export async function listOwnMemberships(
  db: Queryable,
  personId: number,
): Promise<OwnMembershipRow[]> {
  const { rows } = await db.query<OwnMembershipRow>({
    name: "list-own-memberships",
    text: `select m.id, m.version, m.role, m.permissions, w.id as workspace_id, w.slug, w.name as workspace_name, w.brand_name,
             w.timezone, w.currency, w.status as workspace_status, f.id as affiliate_id, f.code as affiliate_code,
             f.name as affiliate_name, f.status as affiliate_status, a.id as advertiser_id, a.name as advertiser_name,
             a.status as advertiser_status
           from membership m join workspace w on w.id = m.workspace_id
           left join affiliate f on f.id = m.affiliate_id left join advertiser a on a.id = m.advertiser_id
           where m.person_id = $1 and m.status = 'active' order by w.name, m.id limit $2`,
    values: [personId, OWN_MAX],
  });
  return rows;
}

import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A person as sign-in and password changes need it. */
export type PersonRow = {
  id: number;
  email: string;
  name: string;
  status: "active" | "inactive";
  /** Whether the person has proved to read the mailbox of the e-mail. */
  email_proved: boolean;
  is_operator: boolean;
  password_hash: string | null;
  preferences: Record<string, unknown>;
  has_totp: boolean;
  has_oidc: boolean;
  passkeys: number;
  recovery_codes: number;
};

/** A proof of another address, which the person had before, counts no more. */
export const EMAIL_PROVED =
  "coalesce(lower(p.proved_email) = lower(p.email), false) as email_proved";

const COLUMNS = `p.id, p.email, p.name, p.status, ${EMAIL_PROVED}, p.is_operator, p.password_hash, p.preferences,
  exists (select from totp t where t.person_id = p.id and t.confirmed_at is not null) as has_totp,
  exists (select from oidc_identity i where i.person_id = p.id) as has_oidc,
  (select count(*)::integer from passkey k where k.person_id = p.id) as passkeys,
  (select count(*)::integer from recovery_code r where r.person_id = p.id and r.used_at is null) as recovery_codes`;

/** Case of the e-mail does not matter. */
export async function findPersonByEmail(
  db: Queryable,
  email: string,
): Promise<PersonRow | undefined> {
  const { rows } = await db.query<PersonRow>({
    name: "find-person-by-email",
    text: `select ${COLUMNS} from person p where lower(p.email) = lower($1)`,
    values: [email],
  });
  return rows[0];
}

export async function getPerson(db: Queryable, id: number): Promise<PersonRow> {
  const { rows } = await db.query<PersonRow>({
    name: "get-person",
    text: `select ${COLUMNS} from person p where p.id = $1`,
    values: [id],
  });
  const [person] = rows;
  if (person === undefined) throw new Error(`person ${id} is gone`);
  return person;
}

export type NewPerson = {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly isOperator: boolean;
  /** Default: false. */
  readonly isProved?: boolean;
};

/** Undefined if a person has the e-mail. */
export async function insertPerson(db: Queryable, person: NewPerson): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: "insert-person",
    text: `insert into person (email, name, password_hash, is_operator, proved_email)
           values ($1, $2, $3, $4, case when $5 then $1 end)
           on conflict (lower(email)) do nothing returning id`,
    values: [
      person.email,
      person.name,
      person.passwordHash,
      person.isOperator,
      person.isProved ?? false,
    ],
  });
  return rows[0]?.id;
}

/**
 * Locks people by id, and whoever has the e-mail, until the end of the transaction. Whoever changes how somebody signs in, or what somebody may
 * do, holds this lock. Returns their ids.
 */
export async function lockPeople(
  tx: Queryable,
  { ids, email }: { readonly ids: readonly (number | null)[]; readonly email?: string | null },
): Promise<number[]> {
  const { rows } = await tx.query<{ id: number }>({
    name: "lock-people",
    text: `select id from person where id = any($1::integer[]) or lower(email) = lower($2)
           order by id for no key update`,
    values: [ids, email ?? null],
  });
  return rows.map(({ id }) => id);
}

/**
 * Makes an account the link holder's alone: its name stays unless one is given, a null hash leaves no password, and the e-mail counts as
 * proved or as unproved.
 */
export async function renewAccount(
  tx: Queryable,
  id: number,
  renewed: {
    readonly name?: string;
    readonly passwordHash: string | null;
    readonly isProved: boolean;
  },
): Promise<void> {
  await tx.query({
    name: "renew-account",
    text: `update person set name = coalesce($2, name), password_hash = $3, proved_email = case when $4 then email end,
             updated_at = now()
           where id = $1`,
    values: [id, renewed.name ?? null, renewed.passwordHash, renewed.isProved],
  });
}

export async function setPasswordHash(db: Queryable, id: number, hash: string): Promise<void> {
  await db.query({
    name: "set-password-hash",
    text: "update person set password_hash = $2, updated_at = now() where id = $1",
    values: [id, hash],
  });
}

/** Another hash of the same password. Does nothing if another password is set meanwhile. */
export async function replacePasswordHash(
  db: Queryable,
  id: number,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await db.query({
    name: "replace-password-hash",
    text: "update person set password_hash = $3, updated_at = now() where id = $1 and password_hash = $2",
    values: [id, from, to],
  });
}

/** What a person says about itself; undefined leaves a value as it is. */
export async function updateOwnPerson(
  db: Queryable,
  id: number,
  change: {
    readonly name: string | undefined;
    readonly preferences: Readonly<Record<string, unknown>> | undefined;
  },
): Promise<void> {
  const preferences = change.preferences === undefined ? null : JSON.stringify(change.preferences);
  await db.query({
    name: "update-own-person",
    text: `update person set name = coalesce($2, name), updated_at = now(),
             preferences = jsonb_strip_nulls(preferences || coalesce($3::jsonb, '{}'))
           where id = $1`,
    values: [id, change.name ?? null, preferences],
  });
}

/** Whether somebody can already let others in: an active person who is an admin of an active workspace with all permissions. */
export async function hasAdmin(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: "has-admin",
    text: `select exists (select from membership m join person p on p.id = m.person_id
             where m.role = 'admin' and m.permissions is null and m.status = 'active' and p.status = 'active') as found`,
  });
  return rows[0]?.found === true;
}

export type ListedPerson = {
  id: number;
  email: string;
  name: string;
  status: string;
  email_proved: boolean;
  is_operator: boolean;
  memberships: string;
  last_seen_at: string | null;
};

/** Everybody who can sign in, oldest first, at most `rowsMax`. */
export async function listPeople(db: Queryable, rowsMax: number): Promise<ListedPerson[]> {
  const { rows } = await db.query<ListedPerson>({
    name: "list-people",
    text: `select p.id, p.email, p.name, p.status, ${EMAIL_PROVED}, p.is_operator,
             coalesce((select string_agg(w.slug || ':' || m.role, ' ' order by w.slug, m.id)
                       from membership m join workspace w on w.id = m.workspace_id
                       where m.person_id = p.id and m.status = 'active'), '') as memberships,
             (select max(s.last_seen_at) from session s where s.person_id = p.id) as last_seen_at
           from person p order by p.id limit $1`,
    values: [rowsMax],
  });
  return rows;
}

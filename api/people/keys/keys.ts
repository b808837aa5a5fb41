import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { quoteConditions, quoteIdentifier } from "../../../schemas/postgres/quote.ts";
import { hashOfKey } from "../../access/api-keys.ts";
import { conditionsOf } from "../../http/filter-conditions.ts";
import type { FilteredPage } from "../../http/page.ts";
import { statementName } from "../../http/statement-name.ts";
import { permissionsOf, type Role } from "../../operation/permissions.ts";

export type KeyRow = {
  id: number;
  name: string;
  role: Role;
  affiliate_id: number | null;
  advertiser_id: number | null;
  permissions: string[] | null;
  ip_allowlist: string[];
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  created_at: string;
};

const COLUMNS = `id, name, role, affiliate_id, advertiser_id, permissions, ip_allowlist, expires_at, last_used_at, revoked_at,
  created_at`;

/** A key as it is answered, with its effective permissions. */
export function presentKey(row: KeyRow): Record<string, unknown> {
  return { ...row, permissions: permissionsOf(row.role, row.permissions) };
}

export async function listKeys(
  db: Queryable,
  workspaceId: number,
  { filters, after, rowsMax }: FilteredPage,
): Promise<KeyRow[]> {
  const conditions = conditionsOf(filters);
  const { rows } = await db.query<KeyRow>({
    ...statementName("list-keys", filters),
    text: `select ${COLUMNS} from api_key
           where workspace_id = $1 and (created_at, id) < ($2::timestamptz, $3::integer)
             ${quoteConditions(conditions, 5)}
           order by created_at desc, id desc limit $4`,
    values: [
      workspaceId,
      after?.at ?? "infinity",
      after?.id ?? 0,
      rowsMax,
      ...conditions.flatMap(({ values }) => values),
    ],
  });
  return rows;
}

export async function findKeyById(
  db: Queryable,
  workspaceId: number,
  id: number,
): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>({
    name: "find-key-by-id",
    text: `select ${COLUMNS} from api_key where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
  });
  return rows[0];
}

export async function findKeyBySecret(db: Queryable, secret: string): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>({
    name: "find-key-by-secret",
    text: `select ${COLUMNS} from api_key where secret_hash = $1`,
    values: [hashOfKey(secret)],
  });
  return rows[0];
}

/** A key that was revoked earlier keeps its first time of revocation. */
export async function revokeKey(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "revoke-key",
    text: "update api_key set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1",
    values: [id],
  });
}

/** The account of partner or advertiser keys: the column that names it, and its id. */
export type KeyAccount = {
  readonly column: "affiliate_id" | "advertiser_id";
  readonly id: number;
};

/** The keys of an account are counted and changed by one request at a time, until the end of its transaction. */
export async function lockKeysOf(tx: Queryable, { column, id }: KeyAccount): Promise<void> {
  await tx.query({
    name: "lock-keys-of-account",
    text: "select pg_advisory_xact_lock(hashtext('keys by ' || $1::text), $2::integer)",
    values: [column, id],
  });
}

/** Ids of the keys of the account that are neither revoked nor expired, at most `rowsMax`. */
export async function findUsableKeys(
  tx: Queryable,
  { column, id }: KeyAccount,
  rowsMax: number,
): Promise<number[]> {
  const { rows } = await tx.query<{ id: number }>({
    name: `find-usable-keys-${column}`,
    text: `select id from api_key
           where ${quoteIdentifier(column)} = $1 and revoked_at is null and coalesce(expires_at, 'infinity') > now()
           limit $2`,
    values: [id, rowsMax],
  });
  return rows.map((row) => row.id);
}

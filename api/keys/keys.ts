import type { Queryable } from "../../schemas/postgres/connect.ts";
import { hashOfKey } from "../access/api-keys.ts";
import { permissionsOf, type Role } from "../access/permissions.ts";
import type { Position } from "../rest/cursor.ts";

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
  page: { readonly after: Position | undefined; readonly rowsMax: number },
): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>({
    name: "list-keys",
    text: `select ${COLUMNS} from api_key
           where workspace_id = $1 and (created_at, id) < ($2::timestamptz, $3::integer)
           order by created_at desc, id desc limit $4`,
    values: [workspaceId, page.after?.at ?? "infinity", page.after?.id ?? 0, page.rowsMax],
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

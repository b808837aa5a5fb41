import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { Role } from "../operation/permissions.ts";
import { hashOfKey, mintKey } from "./api-keys.ts";

export type NewKey = {
  readonly workspaceId: number;
  readonly name: string;
  readonly role: Role;
  /** For a partner key. */
  readonly affiliateId?: number | undefined;
  /** For an advertiser key. */
  readonly advertiserId?: number | undefined;
  readonly userId?: number | undefined;
  /** For a staff key: the only permissions it has; undefined for all permissions of its role (G09). */
  readonly permissions?: readonly string[] | undefined;
  /** Addresses and CIDR ranges that may use the key; empty or undefined allows every address (G07). */
  readonly ipAllowlist?: readonly string[] | undefined;
  /** ISO time; undefined for a key that does not expire. */
  readonly expiresAt?: string | undefined;
};

/** Returns the key itself, which is not stored anywhere (G06). */
export async function insertKey(db: Queryable, key: NewKey): Promise<string> {
  const secret = mintKey();
  await db.query({
    name: "insert-api-key",
    text: `insert into api_key (workspace_id, name, role, affiliate_id, advertiser_id, user_id, secret_hash, permissions,
             ip_allowlist, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      key.workspaceId,
      key.name,
      key.role,
      key.affiliateId ?? null,
      key.advertiserId ?? null,
      key.userId ?? null,
      hashOfKey(secret),
      key.permissions ?? null,
      key.ipAllowlist ?? [],
      key.expiresAt ?? null,
    ],
  });
  return secret;
}

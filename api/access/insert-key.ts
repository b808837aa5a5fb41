import type { Queryable } from "../../schemas/postgres/connect.ts";
import { hashOfKey, mintKey } from "./api-keys.ts";
import type { Role } from "./permissions.ts";

export type NewKey = {
  readonly workspaceId: number;
  readonly name: string;
  readonly role: Role;
  /** Of a partner key. */
  readonly affiliateId?: number | undefined;
  /** Of an advertiser key. */
  readonly advertiserId?: number | undefined;
  readonly userId?: number | undefined;
};

/** Answers the key itself, which is kept nowhere (G06). */
export async function insertKey(db: Queryable, key: NewKey): Promise<string> {
  const secret = mintKey();
  await db.query({
    name: "insert-api-key",
    text: `insert into api_key (workspace_id, name, role, affiliate_id, advertiser_id, user_id, secret_hash)
           values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      key.workspaceId,
      key.name,
      key.role,
      key.affiliateId ?? null,
      key.advertiserId ?? null,
      key.userId ?? null,
      hashOfKey(secret),
    ],
  });
  return secret;
}

import type { Queryable } from "../postgres/connect.ts";

/** The secret that signs click ids and cursors and keys the hashes of erasures. @throws if the table has lost its only row. */
export async function readSecret(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ secret: string }>({
    name: "read-installation-secret",
    text: "select secret from installation",
  });
  const secret = rows[0]?.secret;
  if (secret === undefined)
    throw new Error("the table installation has lost its only row: restore a backup");
  return secret;
}

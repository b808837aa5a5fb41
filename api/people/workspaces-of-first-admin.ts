import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Until the end of the transaction, so that two links cannot both make the first admin. */
export async function lockInstallation(tx: Queryable): Promise<void> {
  await tx.query({ name: "lock-installation", text: "select id from installation for update" });
}

/** The first admin of an installation gets them all. */
export async function listWorkspaceIds(tx: Queryable): Promise<number[]> {
  const { rows } = await tx.query<{ id: number }>({
    name: "list-workspace-ids",
    text: "select id from workspace order by id limit 1000",
  });
  return rows.map(({ id }) => id);
}

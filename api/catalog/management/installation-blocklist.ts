import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** Entries of the installation's list in order. Only the operator writes it (G201). */
export async function listInstallationEntries(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ entry: string }>({
    name: "list-installation-blocklist",
    text: "select entry from blocklist_entry order by entry",
  });
  return rows.map(({ entry }) => entry);
}

/** Returns how many were new. */
export async function addInstallationEntries(
  db: Queryable,
  entries: readonly string[],
): Promise<number> {
  const { rowCount } = await db.query({
    name: "add-installation-blocklist",
    text: `insert into blocklist_entry (entry) select distinct unnest($1::text[]) on conflict (entry) do nothing`,
    values: [entries],
  });
  return rowCount ?? 0;
}

/** Returns how many existed. */
export async function removeInstallationEntries(
  db: Queryable,
  entries: readonly string[],
): Promise<number> {
  const { rowCount } = await db.query({
    name: "remove-installation-blocklist",
    text: "delete from blocklist_entry where entry = any($1::text[])",
    values: [entries],
  });
  return rowCount ?? 0;
}

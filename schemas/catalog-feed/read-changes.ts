import { type CatalogEntry, parseCatalogEntry } from "../catalog/entry.ts";
import type { Queryable } from "../postgres/connect.ts";

const PAGE_ROWS = 5_000;

/**
 * Everything that changed after `version`, in the order of versions, page by page: the first load of a large catalog is never
 * in memory twice. Rows that change meanwhile come again with a higher version, which is harmless.
 */
export async function* readCatalogChanges(
  db: Queryable,
  version: number,
): AsyncGenerator<CatalogEntry[]> {
  for (let after = version; ; ) {
    const { rows } = await db.query<{ kind: string; id: string; version: number; record: unknown }>(
      {
        name: "read-catalog-changes",
        text: `select kind, id, version, record from catalog_entry where version > $1 order by version limit $2`,
        values: [after, PAGE_ROWS],
      },
    );
    const page: CatalogEntry[] = [];
    for (const row of rows) {
      const entry = parseCatalogEntry(row);
      if (entry !== undefined) page.push(entry);
      after = row.version;
    }
    yield page;
    if (rows.length < PAGE_ROWS) return;
  }
}

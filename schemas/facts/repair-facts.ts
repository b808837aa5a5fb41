import type { Queryable } from "../postgres/connect.ts";
import { KEYS_MAX, keyParameters } from "./fact-rows.ts";
import type { FactStores } from "./fact-sums.ts";
import type { FactTable } from "./fact-table.ts";
import type { FactDifference } from "./find-differences.ts";

/** Limit for one statement, because the keys are part of its URL. */
const GHOSTS_MAX = 500;

/**
 * Puts differing records that Postgres has into the outbox again; the relay then copies their current state. ClickHouse keeps the highest
 * version, so if it has the same or a later one, the same commit raises the record's version above it. A repeat copies again and changes
 * nothing. Skips ghosts. Returns the number of records.
 */
export async function resendFacts(
  db: Queryable,
  table: FactTable,
  differences: readonly FactDifference[],
): Promise<number> {
  const { table: records, resend } = table.postgres;
  const ours = differences.filter(({ kind }) => kind !== "ghost");
  let sent = 0;
  for (let from = 0; from < ours.length; from += KEYS_MAX) {
    const some = ours.slice(from, from + KEYS_MAX);
    const { rowCount } = await db.query({
      name: `resend-${records}`,
      text: resend,
      values: [
        some.map(({ key }) => key.id),
        some.map(({ kind, clickhouse }) =>
          kind === "ahead" || kind === "changed" ? (clickhouse?.version ?? 0) : 0,
        ),
      ],
    });
    sent += rowCount ?? 0;
  }
  return sent;
}

/**
 * Deletes ghosts from ClickHouse. When it returns, reports no longer contain them. Deletes only the versions that were found. A repeat
 * deletes nothing more. Returns the number of records.
 */
export async function deleteGhosts(
  { clickhouse }: FactStores,
  table: FactTable,
  differences: readonly FactDifference[],
): Promise<number> {
  const byWorkspace = new Map<number, FactDifference[]>();
  for (const ghost of differences.filter(({ kind }) => kind === "ghost")) {
    const known = byWorkspace.get(ghost.workspaceId);
    if (known === undefined) byWorkspace.set(ghost.workspaceId, [ghost]);
    else known.push(ghost);
  }
  let deleted = 0;
  for (const [workspaceId, ghosts] of byWorkspace) {
    for (let from = 0; from < ghosts.length; from += GHOSTS_MAX) {
      const some = ghosts.slice(from, from + GHOSTS_MAX);
      await clickhouse.command({
        query: table.clickhouse.deleteKeys,
        query_params: {
          ...keyParameters(
            workspaceId,
            some.map(({ key }) => key),
          ),
          version: Math.max(...some.map((ghost) => ghost.clickhouse?.version ?? 0)),
        },
        // Returns when every part has been rewritten.
        clickhouse_settings: { lightweight_deletes_sync: "2" },
      });
      deleted += some.length;
    }
  }
  return deleted;
}

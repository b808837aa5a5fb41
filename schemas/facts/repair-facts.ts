import type { Queryable } from "../postgres/connect.ts";
import { KEYS_MAX, keyParameters } from "./fact-rows.ts";
import type { FactStores } from "./fact-sums.ts";
import type { FactTable } from "./fact-table.ts";
import type { FactDifference } from "./find-differences.ts";

/** Ghosts of one statement: their keys go into its URL. */
const GHOSTS_MAX = 500;

/**
 * Puts the records that Postgres has into the outbox again; the relay copies them as they are then. Where ClickHouse has the
 * same version or a later one, the record's version is raised above it first, since ClickHouse keeps the highest: the
 * outbox row and the new version are one commit. A repeat copies again and changes nothing. Ghosts are left out.
 * Answers how many records.
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
 * Deletes from ClickHouse what Postgres does not have; reports show it when this answers. Only versions that were seen are
 * deleted. A repeat deletes nothing more. Answers how many records.
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
        // Answered when every part is without them.
        clickhouse_settings: { lightweight_deletes_sync: "2" },
      });
      deleted += some.length;
    }
  }
  return deleted;
}

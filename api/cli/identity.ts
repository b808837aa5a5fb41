import { createHash } from "node:crypto";
import { z } from "zod";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { LANE_COUNTS, Lanes } from "../../schemas/events/lanes.ts";
import { giveAllOffers, setLanes } from "../../schemas/installation/lane-count.ts";
import type { Pool, Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { CommandError } from "./command-error.ts";

/** What identifies an installation, for a safe place. Without the secret, every click id that it has assigned counts as made up. */
export const IdentityFile = z.object({
  format: z.literal(1),
  /** The incarnation at the time of the export. A new installation keeps its own. */
  id: z.uuid(),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
  lanes: z.array(z.int().nonnegative()),
  exported_at: z.iso.datetime(),
});
export type IdentityFile = z.infer<typeof IdentityFile>;

export async function readIdentity(db: Queryable, nowMs: number): Promise<IdentityFile> {
  const { rows } = await db.query<{ id: string; secret: string; count: number }>({
    name: "read-identity",
    text: "select incarnation::text as id, secret, lanes as count from installation",
  });
  const [row] = rows;
  if (row === undefined) throw new CommandError("The table installation has lost its only row.");
  const { id, secret, count } = row;
  return {
    format: 1,
    id,
    secret,
    lanes: [...new Lanes(count).all],
    exported_at: new Date(nowMs).toISOString(),
  };
}

/** @throws {CommandError} for text that is not an export, and for one with lanes that this release does not have. */
export function parseIdentity(text: string): IdentityFile {
  let parsed: z.ZodSafeParseResult<IdentityFile>;
  try {
    parsed = IdentityFile.safeParse(JSON.parse(text));
  } catch (error) {
    throw new CommandError("The file is not JSON.", { cause: error });
  }
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join(".") || "the whole file");
    throw new CommandError(
      `The file is not an export of an installation: wrong are ${fields.join(", ")}.`,
    );
  }
  laneCountOf(parsed.data);
  return parsed.data;
}

/** Number of click lanes in the file. @throws {CommandError} */
function laneCountOf({ lanes }: IdentityFile): number {
  const sorted = lanes.toSorted((a, b) => a - b).join(",");
  const count = LANE_COUNTS.find((one) => new Lanes(one).all.join(",") === sorted);
  if (count !== undefined) return count;
  throw new CommandError(
    `The installation of the file has the lanes ${sorted}, and this release has ${LANE_COUNTS.join(", ")} lanes and lane 100: click ids contain the lane.`,
  );
}

/** Recognises a secret without showing it. */
export function fingerprintOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 12);
}

/** Names of our processes that are connected to the database, other than the command line. */
async function connectedProcesses(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    name: "read-connected-processes",
    text: `select distinct application_name as name from pg_stat_activity
           where datname = current_database() and application_name like 'tracker %'
             and application_name not in ('tracker command line', 'tracker migrate')
           order by name`,
  });
  return rows.map(({ name }) => name);
}

/** @throws {CommandError} while processes are connected. */
export async function refuseConnectedProcesses(db: Queryable): Promise<void> {
  const processes = await connectedProcesses(db);
  if (processes.length === 0) return;
  throw new CommandError(
    `Nothing was changed: ${processes.join(", ")} are connected to Postgres. Stop them, then run it again.`,
  );
}

/**
 * Replaces the secret and the number of lanes of an installation that has no click and no conversion yet. Returns whether either changed.
 * @throws {CommandError} for an installation with clicks or conversions.
 */
export async function adoptIdentity(
  pool: Pool,
  clickhouse: Clickhouse,
  file: IdentityFile,
): Promise<boolean> {
  const { secret } = file;
  const known = await readIdentity(pool, 0);
  if (known.secret === secret && laneCountOf(known) === laneCountOf(file)) return false;
  const answer = await clickhouse.query({
    query: `select 1 as one from ${allShards(clickhouse, "click")} union all select 1 as one from ${allShards(clickhouse, "impression")} limit 1`,
    format: "JSONEachRow",
  });
  const stored = await answer.json();
  const { rowCount } = await pool.query({
    name: "find-any-conversion",
    text: "select from conversion limit 1",
  });
  if (stored.length > 0 || rowCount !== 0) {
    throw new CommandError(
      "Nothing was changed: this installation has clicks or conversions of its own, whose ids need its own secret. " +
        "Import into a new installation.",
    );
  }
  await inTransaction(pool, async (db) => {
    await setLanes(db, laneCountOf(file));
    await giveAllOffers(db, laneCountOf(file));
    await db.query({
      name: "adopt-secret",
      text: "update installation set secret = $1",
      values: [secret],
    });
  });
  return true;
}

import { createHash } from "node:crypto";
import { z } from "zod";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { ALL_LANES } from "../../schemas/events/shards.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
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
  const { rows } = await db.query<{ id: string; secret: string }>({
    name: "read-identity",
    text: "select incarnation::text as id, secret from installation",
  });
  const [row] = rows;
  if (row === undefined) throw new CommandError("The table installation has lost its only row.");
  return {
    format: 1,
    ...row,
    lanes: [...ALL_LANES],
    exported_at: new Date(nowMs).toISOString(),
  };
}

/** @throws {CommandError} for text that is not an export, and for one with other lanes than this release. */
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
  const lanes = parsed.data.lanes.toSorted((a, b) => a - b).join(",");
  if (lanes !== ALL_LANES.join(",")) {
    throw new CommandError(
      `The installation of the file has the lanes ${lanes}, this release has ${ALL_LANES.join(",")}: click ids contain the lane.`,
    );
  }
  return parsed.data;
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
 * Replaces the secret of an installation that has no click and no conversion yet. Returns whether it was another one.
 * @throws {CommandError} for an installation with clicks or conversions.
 */
export async function adoptSecret(
  db: Queryable,
  clickhouse: Clickhouse,
  secret: string,
): Promise<boolean> {
  const { secret: known } = await readIdentity(db, 0);
  if (known === secret) return false;
  const answer = await clickhouse.query({
    query: `select 1 as one from ${allShards(clickhouse, "click")} union all select 1 as one from ${allShards(clickhouse, "impression")} limit 1`,
    format: "JSONEachRow",
  });
  const stored = await answer.json();
  const { rowCount } = await db.query({
    name: "find-any-conversion",
    text: "select from conversion limit 1",
  });
  if (stored.length > 0 || rowCount !== 0) {
    throw new CommandError(
      "Nothing was changed: this installation has clicks or conversions of its own, whose ids need its own secret. " +
        "Import into a new installation.",
    );
  }
  await db.query({
    name: "adopt-secret",
    text: "update installation set secret = $1",
    values: [secret],
  });
  return true;
}

import { buildInfo } from "../host/build-info.ts";
import type { Log } from "../host/log.ts";
import type { ProcessIdentity } from "../host/ops-server.ts";
import { pause } from "../host/pause.ts";
import { within } from "../host/within.ts";
import type { Queryable } from "../postgres/connect.ts";
import { postgresCode, SQLSTATE } from "../postgres/errors.ts";
import { assertPostgresMigrated, assertPostgresOwn } from "../postgres/migrate.ts";
import { systemClock } from "../time/clock.ts";
import { knownSchema } from "../versions/migration-files.ts";

const BEAT_MS = 10_000;
/** A Postgres that hangs delays the end of the process by at most twice this. */
const CLOSE_MS_MAX = 1_500;
const DAYS_KEPT = 7;
/** A process that has been silent for this long has missed a beat. */
const SILENT_SECONDS = 15;
/** More than an installation runs. */
const PROCESSES_MAX = 10_000;

export type HeartbeatOptions = {
  readonly db: Queryable;
  readonly process: ProcessIdentity;
  readonly log: Log;
  readonly everyMs?: number;
};

/** A process that has a row in Postgres. Ages are by the clock of Postgres. */
export type KnownProcess = {
  readonly id: string;
  readonly role: ProcessIdentity["role"];
  readonly name: string;
  readonly host: string;
  /** Null in the row of an older release. */
  readonly opsPort: number | null;
  readonly version: string;
  readonly commit: string;
  /** Newest migration of Postgres that its code knows. */
  readonly schemaVersion: number;
  readonly incarnation: string;
  readonly startedAt: string;
  readonly lastSeenAt: string;
  /** Seconds since its last beat: at most 25 for a live process that reaches Postgres. */
  readonly ageSeconds: number;
};

/**
 * Writes the row of this process in `system_process` now and every 10 s, and deletes it on `close`. A row stays behind when the process is
 * killed. While Postgres is away nothing is written and the process is not affected (P2); the next beat writes the row again.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #end = new AbortController();
  /** Nothing is written into the data of a commit before the first release. */
  #isOwn = false;
  /** The first beat. */
  readonly #begun: Promise<void>;
  readonly #done: Promise<void>;

  private constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#begun = this.#tryBeat();
    this.#done = this.#run();
  }

  static start(options: HeartbeatOptions): Heartbeat {
    return new Heartbeat(options);
  }

  /**
   * Writes the row at once and then refuses a schema that this release cannot use. In this order, because `migrate --contract` removes
   * nothing while a row of an older process is there.
   *
   * @throws {OtherSchemaError}, an Error that says to run the migration, or what the driver throws when Postgres is away.
   */
  async enter(): Promise<void> {
    const { db } = this.#options;
    // One after the other: a first beat that is late would write the row again after others have judged its age.
    await this.#begun;
    try {
      await this.#beat();
    } catch (error) {
      // Not migrated. The check says so.
      if (postgresCode(error) !== SQLSTATE.undefinedTable) throw error;
    }
    await assertPostgresMigrated(db);
  }

  /** Never rejects. Returns within 3 s, also when Postgres hangs. */
  async close(): Promise<void> {
    this.#end.abort();
    // A beat that is still under way could write the row again after it was deleted.
    if ((await within(CLOSE_MS_MAX, this.#done)) === "late" || !this.#isOwn) return;
    const { db, process, log } = this.#options;
    const deleted = deleteRow(db, process.id).catch((error: unknown) => {
      log.debug({ err: error }, "heartbeat.end-not-noted");
    });
    await within(CLOSE_MS_MAX, deleted);
  }

  async #beat(): Promise<void> {
    const { db, process } = this.#options;
    if (!this.#isOwn) await assertPostgresOwn(db);
    this.#isOwn = true;
    await writeRow(db, process);
  }

  async #tryBeat(): Promise<void> {
    try {
      await this.#beat();
    } catch (error) {
      // The code that needs Postgres for its work logs that it is away.
      this.#options.log.debug({ err: error }, "heartbeat.not-written");
    }
  }

  async #run(): Promise<void> {
    const { everyMs = BEAT_MS } = this.#options;
    const { signal } = this.#end;
    await this.#begun;
    await pause(everyMs, signal);
    while (!signal.aborted) {
      await this.#tryBeat();
      await pause(everyMs, signal);
    }
  }
}

/** Every process that has a row, the newest first in each role. */
export async function readHeartbeats(db: Queryable): Promise<KnownProcess[]> {
  const { rows } = await db.query<KnownProcess>({
    name: "read-heartbeats",
    text: `select process_id as id, role, name, host, ops_port as "opsPort", version, commit,
             schema_version as "schemaVersion", incarnation,
             started_at as "startedAt", last_seen_at as "lastSeenAt",
             greatest(0, extract(epoch from clock_timestamp() - last_seen_at))::float8 as "ageSeconds"
           from system_process order by role, last_seen_at desc, process_id limit $1`,
    values: [PROCESSES_MAX],
  });
  return rows;
}

/** Deletes rows of processes that were last seen more than 7 days ago. Returns their number. */
export async function forgetOldProcesses(db: Queryable): Promise<number> {
  const { rowCount } = await db.query({
    name: "forget-system-processes",
    text: "delete from system_process where last_seen_at < clock_timestamp() - $1 * interval '1 day'",
    values: [DAYS_KEPT],
  });
  return rowCount ?? 0;
}

/**
 * A predecessor has the same role, name and host, was last seen before this process started, and is silent: then it cannot run any more,
 * because the name contains its operations port or is unique by configuration. The time tells it from a process on another machine with the
 * same host name, which goes on beating.
 */
async function writeRow(db: Queryable, process: ProcessIdentity): Promise<void> {
  const { id, role, name, host, opsPort, startedAtMs } = process;
  const { version, commit } = buildInfo();
  await db.query({
    name: "write-heartbeat",
    text: `with predecessor as (
             delete from system_process
             where role = $2 and name = $3 and host = $4 and process_id <> $1
               and last_seen_at < clock_timestamp() - greatest($9::float8, $11::float8) * interval '1 second')
           insert into system_process as known (process_id, role, name, host, version, commit, schema_version, clickhouse_version,
             ops_port, incarnation, started_at, last_seen_at)
           select $1, $2, $3, $4, $5, $6, $7, $8, $10, incarnation, clock_timestamp() - $9 * interval '1 second', clock_timestamp()
           from installation
           on conflict (process_id) do update set incarnation = excluded.incarnation, last_seen_at = excluded.last_seen_at`,
    values: [
      id,
      role,
      name,
      host,
      version,
      commit,
      knownSchema().postgres,
      knownSchema().clickhouse,
      (systemClock.nowMs() - startedAtMs) / 1_000,
      opsPort,
      SILENT_SECONDS,
    ],
  });
}

async function deleteRow(db: Queryable, id: string): Promise<void> {
  await db.query({
    name: "delete-heartbeat",
    text: "delete from system_process where process_id = $1",
    values: [id],
  });
}

import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { syncInserts } from "../../schemas/clickhouse/sync-inserts.ts";
import { joinStores } from "../../schemas/installation/incarnation.ts";
import { chooseLanes, readLanes } from "../../schemas/installation/lane-count.ts";
import { readPostgresMark } from "../../schemas/installation/store-marks.ts";
import { StreamMarks } from "../../schemas/installation/stream-marks.ts";
import { connectNats, type NatsOptions } from "../../schemas/nats/connect.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { openPool, type PostgresServer } from "../../schemas/postgres/connect.ts";
import { makeLogDays } from "../../schemas/postgres/log-days.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { withoutOlderProcesses } from "../../schemas/postgres/older-processes.ts";
import { setRoleLimits } from "../../schemas/postgres/role-limits.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { OtherSchemaError } from "../../schemas/versions/judge-schema.ts";
import type { Command } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findServers, type Servers } from "./servers.ts";

/** A migration may build an index over a large table. */
const MIGRATION_TIMEOUT_MS = 3_600_000;
/** `create index concurrently` waits for older transactions, such as a backup, and blocks nobody meanwhile. */
const PATIENT_LOCK_MS = 1_800_000;
const EXIT_OTHER_SCHEMA = 3;

export const migrateCommand: Command = {
  name: "migrate",
  summary: "brings Postgres, ClickHouse and JetStream to this version",
  options: {
    contract: {
      summary: "also removes what only older releases use; refused while one of them runs",
    },
  },
  examples: ["migrate", "migrate --contract"],
  notes:
    "Safe to run twice. Without --contract the processes of the release before go on beside the new schema.",
  run: async (given, { servers, dataDir, natsSpace, streams, ...environment }, terminal) => {
    const found = findServers(["postgres", "nats", "clickhouse"], servers, dataDir);
    const nats = { ...found.nats, name: "tracker migrate", ...natsSpace, streams };
    const { durability, postgresDirect, lanes } = environment;
    const lines = await migrateStores({
      ...found,
      nats,
      isStrict: durability.level === "strict",
      direct: postgresDirect ?? found.postgres,
      isContract: given.has("contract"),
      lanes,
      report: terminal.report,
    });
    return lines.join("\n");
  },
};

type Migration = Servers & {
  readonly nats: NatsOptions;
  readonly isStrict: boolean;
  readonly direct: PostgresServer;
  readonly isContract: boolean;
  /** Undefined: as it is. */
  readonly lanes: number | undefined;
  readonly report: (line: string) => void;
};

/** Brings the three stores to the version of this release. Safe to run twice. Returns one line for each store. */
async function migrateStores(given: Migration): Promise<string[]> {
  const { postgres, direct, nats, clickhouse, isStrict } = given;
  return [
    await migration("Postgres", async () => {
      const applied = migratedText(await migratePostgresAt(given));
      const lanes = await chooseLanesAt(given);
      const isLimited = await setRoleLimitsAt(isSameRole(direct, postgres) ? direct : postgres);
      const stores = `${applied}; ${lanes} click lanes`;
      return isLimited ? stores : `${stores}; our role may not set its own time limits`;
    }),
    await migration("ClickHouse", async () => {
      const applied = migratedText(await migrateClickhouseAt(given));
      const synced = isStrict ? await syncInserts(clickhouse) : [];
      return synced.length === 0 ? applied : `${applied}; syncs inserts into ${synced.join(", ")}`;
    }),
    await migration("JetStream", async () => await ensureStreamsAt(nats)),
    await migration("Stores", async () => await joinStoresAt({ postgres, clickhouse, nats })),
  ];
}

async function migratePostgresAt({ direct, isContract, report }: Migration): Promise<Migrated> {
  const connection = {
    ...direct,
    applicationName: "tracker migrate",
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
  };
  const pool = openPool({ ...connection, connectionsMax: 2 });
  const patient = openPool({ ...connection, connectionsMax: 1, lockTimeoutMs: PATIENT_LOCK_MS });
  try {
    const migrated = await migratePostgres(pool, { isContract, report, patient });
    await makeLogDays(pool);
    return migrated;
  } finally {
    await patient.end();
    await pool.end();
  }
}

function tooManyGroups(groups: number, lanes: number): string {
  return `LANE_GROUPS is ${groups}, and the installation has ${lanes} click lanes, so streams would stay empty. Set LANE_GROUPS to ${lanes} or less.`;
}

/** Returns how many lanes the installation has. @throws {LanesInUseError} */
async function chooseLanesAt({ direct, lanes, nats }: Migration): Promise<number> {
  const pool = openPool({ ...direct, applicationName: "tracker migrate", connectionsMax: 1 });
  try {
    if (lanes !== undefined) await chooseLanes(pool, lanes);
    const { count } = await readLanes(pool);
    const { groups = 1 } = nats;
    if (groups > count) throw new Error(tooManyGroups(groups, count));
    return count;
  } finally {
    await pool.end();
  }
}

async function migrateClickhouseAt({
  clickhouse,
  direct,
  isContract,
}: Migration): Promise<Migrated> {
  const pool = openPool({ ...direct, applicationName: "tracker migrate", connectionsMax: 1 });
  try {
    const { incarnation: installation } = await readPostgresMark(pool);
    if (!isContract) return await migrateClickhouse(clickhouse, { installation });
    return await migrateClickhouse(clickhouse, {
      installation,
      withoutOlder: async (file, work) => {
        await inTransaction(pool, async (db) => {
          await withoutOlderProcesses(db, { store: "clickhouse", file }, work);
        });
      },
    });
  } finally {
    await pool.end();
  }
}

/**
 * `server` must have the role of the processes. Prefer the direct server: PgBouncer keeps the connection that has set the limits, which
 * then is without them.
 */
async function setRoleLimitsAt(server: PostgresServer): Promise<boolean> {
  const pool = openPool({ ...server, applicationName: "tracker migrate", connectionsMax: 1 });
  try {
    return await setRoleLimits(pool);
  } finally {
    await pool.end();
  }
}

function isSameRole(one: PostgresServer, other: PostgresServer): boolean {
  return new URL(one.url).username === new URL(other.url).username;
}

/** A mismatch does not stop the migration: the processes also report it, and after a restore `tracker restored` runs next. */
async function joinStoresAt({
  postgres,
  clickhouse: server,
  nats: options,
}: Servers & { readonly nats: NatsOptions }): Promise<string> {
  const pool = openPool({
    ...postgres,
    applicationName: "tracker migrate",
    connectionsMax: 1,
  });
  const clickhouse = openClickhouse({ ...server, applicationName: "tracker migrate" });
  const nats = await connectNats(options);
  try {
    return (await joinStores(pool, clickhouse, new StreamMarks(() => nats)))
      ? "Postgres, ClickHouse and the streams belong together"
      : "Postgres, ClickHouse and the streams are not of one installation, or one was restored: run `tracker restored`";
  } finally {
    await nats.connection.close();
    await clickhouse.close();
    await pool.end();
  }
}

async function ensureStreamsAt(options: NatsOptions): Promise<string> {
  const nats = await connectNats(options);
  try {
    const streams = await ensureStreams(nats);
    const names = streams.map(({ name }) => name).join(", ");
    const replicas = Math.min(...streams.map((stream) => stream.replicas));
    const verb = streams.length === 1 ? "is" : "are";
    return `${names} ${verb} as this release needs it, in ${replicas} ${replicas === 1 ? "copy" : "copies"}`;
  } finally {
    await nats.connection.close();
  }
}

async function migration(store: string, run: () => Promise<string>): Promise<string> {
  try {
    return `${store}: ${await run()}`;
  } catch (error) {
    const fault = error instanceof Error ? error.message || error.name : String(error);
    throw new CommandError(`${store} was not migrated: ${fault}`, {
      cause: error,
      ...(error instanceof OtherSchemaError && { exitCode: EXIT_OTHER_SCHEMA }),
    });
  }
}

type Migrated = {
  readonly applied: readonly string[];
  readonly left: readonly string[];
  readonly made?: readonly string[];
  readonly behind?: readonly string[];
};

function migratedText({ applied, left, made = [], behind = [] }: Migrated): string {
  const changes = applied.length === 0 ? "is up to date" : `applied ${applied.join(", ")}`;
  const done =
    (made.length === 0 ? changes : `${changes}; made ${made.join(", ")}`) +
    (behind.length === 0
      ? ""
      : `; ${behind.join(", ")} still copies rows: when it has them, run \`system restart replica\` for the table there`);
  if (left.length === 0) return done;
  return `${done}; ${left.join(", ")} waits until no older release runs: then run \`tracker migrate --contract\``;
}

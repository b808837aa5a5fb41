import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import {
  assertClickhouseMigrated,
  migrateClickhouse,
} from "../../../../schemas/clickhouse/migrate.ts";
import { Heartbeat } from "../../../../schemas/installation/heartbeat.ts";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { assertPostgresMigrated, migratePostgres } from "../../../../schemas/postgres/migrate.ts";
import {
  OlderProcessesError,
  withoutOlderProcesses,
} from "../../../../schemas/postgres/older-processes.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { OtherSchemaError } from "../../../../schemas/versions/judge-schema.ts";
import {
  knownSchema,
  type MigrationFile,
  migrationFiles,
  readMigration,
  type Store,
} from "../../../../schemas/versions/migration-files.ts";
import { readClickhouseSchema } from "../../../schema/clickhouse-schema.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { openStores, Stores, testLog } from "../../../services/stores.ts";
import { until } from "../../../system/until.ts";

const WAIT = { timeoutMs: 90_000, pollMs: 20 };

/** The stores of this release. The release after it has the files that a test adds. */
let stores: Stores;
const all: Stores[] = [];
await forThisFile(
  Promise.resolve({
    close: async () => {
      for (const one of all) await one.close();
    },
  }),
);

beforeEach(async () => {
  stores = new Stores(await openStores({ label: "sidebyside" }));
  all.push(stores);
});

/** The next file of a release to come. `SELF` in its header is its own number, `KNOWN` this release's. */
function next(store: Store, text: string, after = 0): MigrationFile {
  const known = knownSchema()[store];
  const number = known + 1 + after;
  const sql = text.replace("SELF", pad(number)).replace("KNOWN", pad(known));
  return readMigration(`${pad(number)}_next.sql`, sql);
}

function pad(number: number): string {
  return String(number).padStart(4, "0");
}

function withNext(store: Store, ...texts: readonly string[]): MigrationFile[] {
  return [...migrationFiles(store), ...texts.map((text, index) => next(store, text, index))];
}

const ADDS = "-- reads: KNOWN\nalter table offer add column next_terms text;";
const REMOVES = "-- contract: needs SELF\nalter table offer drop column description;";

/** A process of this release, which is the older one. */
function olderProcess(everyMs = 3_600_000): { heartbeat: Heartbeat; name: string } {
  const name = `api-${randomUUID().slice(0, 8)}`;
  const place = { host: "host-1", opsPort: 9_441 } as const;
  const process = { id: randomUUID(), role: "api", name, ...place, startedAtMs: 0 } as const;
  const heartbeat = Heartbeat.start({ db: stores.pool, process, log: testLog(), everyMs });
  return { heartbeat, name };
}

async function columnsOfOffer(): Promise<string[]> {
  const rows = await stores.rows<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = 'offer'::regclass and attnum > 0 and not attisdropped",
  );
  return rows.map(({ name }) => name);
}

test("what a newer release adds leaves this one running, what it removes waits (P39)", async () => {
  const files = withNext("postgres", ADDS, REMOVES);
  const last = files.at(-1)?.name;
  expect(await migratePostgres(stores.pool, { files })).toEqual({
    applied: [files.at(-2)?.name],
    left: [last],
  });
  await assertPostgresMigrated(stores.pool);
  // The older release's own `migrate` has nothing to do and refuses nothing: a rollback runs it.
  expect(await migratePostgres(stores.pool)).toEqual({ applied: [], left: [] });
  expect(await columnsOfOffer()).toEqual(expect.arrayContaining(["next_terms", "description"]));

  expect(await migratePostgres(stores.pool, { files, isContract: true })).toEqual({
    applied: [last],
    left: [],
  });
  expect(await columnsOfOffer()).not.toContain("description");
  await expect(assertPostgresMigrated(stores.pool)).rejects.toThrow(OtherSchemaError);
  await expect(migratePostgres(stores.pool)).rejects.toThrow(OtherSchemaError);
});

test("nothing is removed while an older process was seen in the last 60 s (P39)", async () => {
  const files = withNext("postgres", REMOVES);
  const { heartbeat, name } = olderProcess();
  await heartbeat.enter();
  const contract = migratePostgres(stores.pool, { files, isContract: true });
  await expect(contract).rejects.toThrow(OlderProcessesError);
  await expect(contract).rejects.toThrow(
    new RegExp(
      `${name} on host-1 \\(release .*, migration ${knownSchema().postgres}, seen \\d+ s ago\\)`,
    ),
  );
  expect(await columnsOfOffer()).toContain("description");

  await stores.rows("update system_process set last_seen_at = now() - interval '59 seconds'");
  await expect(migratePostgres(stores.pool, { files, isContract: true })).rejects.toThrow(name);
  await stores.rows("update system_process set last_seen_at = now() - interval '61 seconds'");
  expect((await migratePostgres(stores.pool, { files, isContract: true })).applied).toHaveLength(1);
  await heartbeat.close();
});

test("an older process that starts while something is removed refuses to run (P39)", async () => {
  const files = withNext("postgres", `${REMOVES} select pg_sleep(1);`);
  const contract = migratePostgres(stores.pool, { files, isContract: true });
  await until(
    "the migration is under way",
    async () => {
      const [row] = await stores.rows<{ locks: number }>(
        `select count(*)::integer as locks from pg_locks
       where relation = 'system_process'::regclass and mode = 'ShareRowExclusiveLock' and granted`,
      );
      return row?.locks === 1;
    },
    WAIT,
  );
  const { heartbeat } = olderProcess();
  await expect(heartbeat.enter()).rejects.toThrow(OtherSchemaError);
  await contract;
  await heartbeat.close();
});

test("an empty database gets everything in order", async () => {
  const files = withNext("postgres", ADDS, REMOVES, ADDS.replace("next_terms", "more_terms"));
  await stores.rows("drop schema public cascade; create schema public");
  expect(await migratePostgres(stores.pool, { files })).toEqual({
    applied: files.map(({ name }) => name),
    left: [],
  });
});

test("a migration gives way to a transaction that holds its lock, reports it and goes on (P39)", async () => {
  const files = withNext("postgres", ADDS);
  const holder = await stores.pool.connect();
  await holder.query({ text: "begin" });
  await holder.query({ text: "lock table offer in access share mode" });
  const lines: string[] = [];
  const report = (line: string) => lines.push(line);
  const impatient = { files, report, lockTries: 2, lockPauseMs: 10 };
  await holder.query({ text: "set local idle_in_transaction_session_timeout = 0" });
  await expect(migratePostgres(stores.pool, impatient)).rejects.toThrow(
    /_next\.sql needs a lock that another transaction still held after 2 tries/,
  );
  expect(lines).toEqual([
    expect.stringMatching(/^Postgres: \d+_next\.sql waits for a lock .*\(try 1 of 2\)$/),
  ]);
  const migrated = migratePostgres(stores.pool, { files, report, lockPauseMs: 10 });
  await until("it waits again", () => lines.length > 1, WAIT);
  await holder.query({ text: "commit" });
  holder.release();
  expect((await migrated).applied).toHaveLength(1);
});

test("an index is built without a transaction, and again from its start after it failed (P39)", async () => {
  const build = `-- reads: KNOWN
-- no transaction
-- What an interrupted build left.
drop index concurrently if exists next_hosts;
create unique index concurrently next_hosts on next_host (host);
`;
  const files = withNext("postgres", build);
  await stores.rows("create table next_host (host text)");
  await stores.rows("insert into next_host values ('a.example'), ('a.example')");
  await expect(migratePostgres(stores.pool, { files })).rejects.toThrow(
    /could not create unique index/,
  );
  await stores.rows("delete from next_host where ctid = '(0,1)'");

  // A transaction that writes, longer than a migration with its lock could wait for.
  const writer = await stores.pool.connect();
  await writer.query({ text: "begin" });
  await writer.query({ text: "set local idle_in_transaction_session_timeout = 0" });
  await writer.query({ text: "insert into next_host values ('b.example')" });
  const patient = openPool({
    url: stores.database.postgresUrl,
    applicationName: "test",
    lockTimeoutMs: 60_000,
  });
  const built = migratePostgres(stores.pool, { files, patient });
  await until(
    "the build waits for the writer",
    async () => {
      const rows = await stores.rows(
        "select from pg_stat_activity where query like '%index concurrently%' and wait_event_type = 'Lock'",
      );
      return rows.length === 1;
    },
    WAIT,
  );
  await stores.rows("insert into next_host values ('c.example')");
  await writer.query({ text: "commit" });
  writer.release();
  expect((await built).applied).toHaveLength(1);
  await patient.end();
  expect(
    await stores.rows("select indisvalid from pg_index where indexrelid = 'next_hosts'::regclass"),
  ).toEqual([{ indisvalid: true }]);
});

test("two migrations at once apply each file once", async () => {
  const files = withNext(
    "postgres",
    ADDS,
    "-- reads: KNOWN\n-- no transaction\nselect pg_sleep(0.5);",
  );
  const both = await Promise.all([
    migratePostgres(stores.pool, { files, lockPauseMs: 10 }),
    migratePostgres(stores.pool, { files, lockPauseMs: 10 }),
  ]);
  expect(both.flatMap(({ applied }) => applied).toSorted()).toEqual(
    files.slice(-2).map(({ name }) => name),
  );
});

const CLICKHOUSE_ADDS =
  "-- reads: KNOWN\nalter table click add column if not exists next_sub String;";
const CLICKHOUSE_REMOVES =
  "-- contract: needs SELF\nalter table impression drop column if exists creative_id;";

async function contractClickhouse(files: readonly MigrationFile[]): Promise<readonly string[]> {
  const { applied } = await migrateClickhouse(
    { url: stores.database.clickhouseUrl },
    {
      files,
      withoutOlder: async (file, work) => {
        await inTransaction(stores.pool, async (db) => {
          await withoutOlderProcesses(db, { store: "clickhouse", file }, work);
        });
      },
    },
  );
  return applied;
}

test("ClickHouse keeps to the same rules (P39)", async () => {
  const { clickhouse, database } = stores;
  const files = withNext("clickhouse", CLICKHOUSE_ADDS, CLICKHOUSE_REMOVES);
  const [added, removed] = files.slice(-2).map(({ name }) => name);
  const server = { url: database.clickhouseUrl };
  expect(await migrateClickhouse(server, { files })).toEqual({ applied: [added], left: [removed] });
  await assertClickhouseMigrated(clickhouse);
  expect(await migrateClickhouse(server)).toEqual({ applied: [], left: [] });

  const { heartbeat, name } = olderProcess();
  await heartbeat.enter();
  await expect(contractClickhouse(files)).rejects.toThrow(name);
  await assertClickhouseMigrated(clickhouse);
  await heartbeat.close();
  expect(await contractClickhouse(files)).toEqual([removed]);
  await expect(assertClickhouseMigrated(clickhouse)).rejects.toThrow(OtherSchemaError);
  await expect(migrateClickhouse(server)).rejects.toThrow(OtherSchemaError);
});

test("an interrupted removal in ClickHouse keeps older processes out and is finished later (P39)", async () => {
  const { clickhouse } = stores;
  const broken = withNext(
    "clickhouse",
    "-- contract: needs SELF\nalter table nothing drop column a;",
  );
  await expect(contractClickhouse(broken)).rejects.toThrow(/nothing/);
  await expect(assertClickhouseMigrated(clickhouse)).rejects.toThrow(OtherSchemaError);
  const files = withNext("clickhouse", CLICKHOUSE_REMOVES);
  expect(await contractClickhouse(files)).toEqual([files.at(-1)?.name]);
  expect(await contractClickhouse(files)).toEqual([]);
});

/** The list of migrations as the first commits made it. */
async function makeOlder(): Promise<void> {
  await stores.rows("delete from schema_migration");
  await stores.rows("alter table schema_migration drop column oldest_reader");
  await stores.rows(
    "insert into schema_migration (number, name) values (1, '0001_catalog.sql'), (2, '0002_conversions.sql')",
  );
  for (const query of [
    "truncate table schema_migration",
    "alter table schema_migration drop column oldest_reader, drop column is_applied",
    "insert into schema_migration (number, name) values (1, '0001_clicks.sql'), (2, '0002_conversions.sql')",
  ])
    await stores.clickhouse.command({ query });
}

test("data of a commit before the first release is refused before anything is written into it", async () => {
  await makeOlder();
  const { database, clickhouse } = stores;
  const before = await readClickhouseSchema(clickhouse, database.clickhouseUrl);
  // Whoever writes is refused by Postgres and not by us.
  await stores.rows(`alter database ${database.name} set default_transaction_read_only = on`);
  const pool = openPool({ url: database.postgresUrl, applicationName: "test" });
  const process = { id: randomUUID(), role: "api", name: "api-1", host: "host-1" } as const;
  const heartbeat = Heartbeat.start({
    db: pool,
    process: { ...process, opsPort: 9_441, startedAtMs: 0 },
    log: testLog(),
  });
  const refusals = await Promise.all(
    [
      migratePostgres(pool),
      migratePostgres(pool, { isContract: true }),
      assertPostgresMigrated(pool),
      heartbeat.enter(),
      migrateClickhouse({ url: database.clickhouseUrl }),
      assertClickhouseMigrated(clickhouse),
    ].map(async (one) => await one.then(() => "nothing was refused", asOtherSchema)),
  );
  await heartbeat.close();
  await pool.end();
  for (const sentence of refusals.slice(0, 4))
    expect(sentence).toMatch(/^Postgres has .* with 0001_catalog\.sql, .* Stay at 1ec7599a/);
  for (const sentence of refusals.slice(4))
    expect(sentence).toMatch(/^ClickHouse has .* with 0001_clicks\.sql, .* Stay at 1ec7599a/);
  expect(await stores.rows("select from system_process")).toEqual([]);
  expect(await readClickhouseSchema(clickhouse, database.clickhouseUrl)).toBe(before);
});

function asOtherSchema(error: unknown): string {
  if (error instanceof OtherSchemaError) return error.message;
  throw error;
}

test("a process that needs a newer schema names the command", async () => {
  const last = knownSchema();
  await stores.rows("delete from schema_migration where number = $1", [last.postgres]);
  await stores.clickhouse.command({
    query: "delete from schema_migration where number = {number: UInt32}",
    query_params: { number: last.clickhouse },
  });
  const expected =
    /lacks \d{4}_\w+\.sql, which this release needs: run `npm run tracker -- migrate` first$/;
  await expect(assertPostgresMigrated(stores.pool)).rejects.toThrow(expected);
  await expect(assertClickhouseMigrated(stores.clickhouse)).rejects.toThrow(expected);
});

import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { type Clickhouse, openClickhouse } from "../../../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../../../schemas/clickhouse/migrate.ts";
import { closeStores, compareStores } from "../../../../schemas/installation/compare-stores.ts";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { isPostgresAway } from "../../../../schemas/postgres/errors.ts";
import { migratePostgres } from "../../../../schemas/postgres/migrate.ts";
import { type FreshDatabase, freshDatabase } from "../../../services/fresh-database.ts";
import { OwnServer } from "../../../system/own-server.ts";

// These tests start, stop and copy a Postgres server, which takes seconds on a loaded machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Tables whose IDs may repeat after a restart: outside of Postgres, each ID stands beside something that differs. */
const UNGUARDED = [
  "ad_cost_fact_outbox",
  "audit_log",
  "conversion_fact_outbox",
  "conversion_history",
  "erasure",
  "ingress_producer",
  "mail_outbox",
  "payment_method_change",
  "tax_record",
];

let server: OwnServer;
let database: FreshDatabase;
let clickhouse: Clickhouse;
let pool: Pool;

beforeAll(async () => {
  server = await OwnServer.open("postgres");
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  database = await freshDatabase({
    label: "ids",
    servers: { postgres: server.url, clickhouse: inject("clickhouseUrl") },
  });
  pool = connected();
  await migratePostgres(pool);
  await migrateClickhouse({ url: database.clickhouseUrl });
  clickhouse = openClickhouse({ url: database.clickhouseUrl, applicationName: "test" });
  await compareStores(pool, clickhouse);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  await clickhouse.close();
});

function connected(): Pool {
  const made = openPool({ url: database.postgresUrl, applicationName: "tracker test" });
  // The test kills the server behind idle connections.
  made.onIdleError(() => undefined);
  return made;
}

async function restarted(change: () => Promise<void>): Promise<void> {
  await pool.end();
  await change();
  await server.start();
  pool = connected();
}

async function newWorkspace(slug: string): Promise<number> {
  const { rows } = await pool.query<{ id: number }>({
    text: "insert into workspace (slug, name, postback_token) values ($1, $1, $1) returning id",
    values: [slug],
  });
  return rows[0]?.id ?? Number.NaN;
}

/** Saves the folder as a disk snapshot would; the server continues afterwards. */
async function saveRunning(label: string): Promise<void> {
  await server.signal("SIGSTOP");
  await server.save(label);
  await server.signal("SIGCONT");
}

test("a Postgres restored from a snapshot of the same second repeats no lost id (#7, #12, P38)", async () => {
  await newWorkspace("kept");
  await saveRunning("snapshot");
  const lost = [await newWorkspace("lost-1"), await newWorkspace("lost-2")];
  await restarted(async () => {
    await server.kill();
    await server.restore("snapshot");
  });
  const refused = await newWorkspace("too-early").catch((error: unknown) => error);
  expect(isPostgresAway(refused)).toBe(true);
  // ClickHouse got no new sign of Postgres since the snapshot.
  expect(await compareStores(pool, clickhouse)).toMatchObject({ found: "postgres-started-anew" });
  expect(await newWorkspace("after")).toBeGreaterThan(Math.max(...lost));
});

test("a Postgres restored from a copy of an earlier start repeats no id (#7, #12, P38)", async () => {
  await restarted(async () => {
    await server.stop();
    await server.save("older");
  });
  await compareStores(pool, clickhouse);
  const lost = await newWorkspace("lost");
  await restarted(async () => {
    await server.kill();
    await server.restore("older");
  });
  expect(await compareStores(pool, clickhouse)).toMatchObject({ found: "postgres-went-back" });
  expect(await newWorkspace("after")).toBeGreaterThan(lost);
});

test("ids are skipped once per restart, however many processes compare the stores (#7)", async () => {
  const before = await newWorkspace("before");
  await restarted(() => server.kill());
  const found = await Promise.all(
    Array.from({ length: 8 }, async () => (await compareStores(pool, clickhouse)).found),
  );
  expect(found.filter((one) => one === "postgres-started-anew")).toHaveLength(1);
  const after = await newWorkspace("after");
  expect(after).toBeGreaterThan(before);
  expect(after).toBeLessThanOrEqual(before + 20_000);
});

test("no id is skipped once the last of all processes has ended in order (#7)", async () => {
  const before = await newWorkspace("before");
  await closeStores(pool, clickhouse, "another kind");
  expect(await newWorkspace("still open")).toBe(before + 1);
  await closeStores(pool, clickhouse, "tracker test");
  expect(isPostgresAway(await newWorkspace("closed").catch((error: unknown) => error))).toBe(true);
  await restarted(() => server.stop());
  expect(await compareStores(pool, clickhouse)).toMatchObject({ found: "equal" });
  expect(await newWorkspace("after")).toBe(before + 2);
  expect(await compareStores(pool, clickhouse)).toMatchObject({ found: "equal" });
});

test("a process that died while it raised the ids delays new ids by at most 16 s (#7)", async () => {
  await restarted(() => server.kill());
  await pool.query({
    text: "update store_beat set lifting_life = store_life(), lifted_at = now()",
  });
  expect(await compareStores(pool, clickhouse)).toEqual({ found: "being-caught-up" });
  await pool.query({ text: "update store_beat set lifted_at = now() - interval '16 seconds'" });
  expect(await compareStores(pool, clickhouse)).toMatchObject({ found: "postgres-started-anew" });
  expect(await newWorkspace("after")).toBeGreaterThan(0);
});

test("every table that allocates ids is guarded or listed here (#7, P38)", async () => {
  const { rows } = await pool.query<{ name: string }>({
    text: `select distinct attrelid::regclass::text as name from pg_attribute
           where attidentity <> '' and attrelid >= 16384 and not exists (
             select from pg_trigger where tgrelid = attrelid and tgname = 'ids_are_verified')
           order by name`,
  });
  expect(rows.map(({ name }) => name)).toEqual(UNGUARDED);
});

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startClickhouse } from "../../../../deploy/local/embedded-clickhouse.ts";
import { startNats } from "../../../../deploy/local/embedded-nats.ts";
import { startPostgres } from "../../../../deploy/local/embedded-postgres.ts";
import type {
  EmbeddedServer,
  EmbeddedServerOptions,
} from "../../../../deploy/local/embedded-server.ts";
import { pickPort } from "../../../../deploy/local/ports.ts";
import { processIdentity } from "../../../../deploy/local/process-identity.ts";
import { readLiveProcess } from "../../../../deploy/local/process-record.ts";
import { openClickhouse } from "../../../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { connectNats } from "../../../../schemas/nats/connect.ts";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { freshDatabase } from "../../../services/fresh-database.ts";
import { runtimeDir, testReport } from "../../../services/servers.ts";
import { serverUrls } from "../../../services/stores.ts";
import { until } from "../../../system/until.ts";

const SERVERS = {
  postgres: {
    start: startPostgres,
    program: "embedded-postgres",
    record: "postgres-server",
    write: writePostgres,
    read: readPostgres,
  },
  nats: {
    start: startNats,
    program: "embedded-nats",
    record: "nats-server",
    write: writeNats,
    read: readNats,
  },
  clickhouse: {
    start: startClickhouse,
    program: "embedded-clickhouse",
    record: "clickhouse",
    write: writeClickhouse,
    read: readClickhouse,
  },
} as const;
const names = ["postgres", "nats", "clickhouse"] as const;

let dataDir: string;
let options: EmbeddedServerOptions;
const opened: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tracker-test-embedded-"));
  options = {
    dataDir,
    runtimeDir: runtimeDir(),
    report: testReport(),
    bind: "127.0.0.1",
    port: await pickPort("127.0.0.1"),
  };
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test.each(names)("%s keeps its data and address over a clean stop and start", async (name) => {
  const { start, write, read } = SERVERS[name];
  const first = track(await start(options));
  await write(first.url);
  await first.stop();
  await first.exited;
  const second = track(await start(options));
  expect(second.url).toBe(first.url);
  expect(await read(second.url)).toBe("kept");
});

test.each(names)("%s ends when the process that started it is killed", async (name) => {
  const { record, read, start, write } = SERVERS[name];
  const { url, starter } = await startInProcess(name);
  await write(url);
  const server = readLiveProcess(join(dataDir, "run", `${record}.pid`));
  expect(server).toBeDefined();
  starter.kill("SIGKILL");
  await until(
    `${name} has ended`,
    async () => server !== undefined && processIdentity(server.pid) === undefined,
  );
  const again = track(await start(options));
  expect(await read(again.url)).toBe("kept");
});

test.each(["postgres", "nats"] as const)(
  "%s whose leash was also killed is ended by the next start, and keeps its data",
  async (name) => {
    const { record, read, start, write } = SERVERS[name];
    const first = await start(options);
    await write(first.url);
    const server = readLiveProcess(join(dataDir, "run", `${record}.pid`));
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    expect(processIdentity(server?.pid ?? 0)).toBe(server?.identity);
    const second = track(await start(options));
    expect(processIdentity(server?.pid ?? 0)).toBeUndefined();
    expect(await read(second.url)).toBe("kept");
  },
);

test("a server that dies is reported by `exited`", async () => {
  const server = track(await startNats(options));
  const record = readLiveProcess(join(dataDir, "run", "nats-server.pid"));
  process.kill(record?.pid ?? 0, "SIGKILL");
  expect(await server.exited).toEqual({ code: 137, signal: null });
});

test("postgres refuses a wrong password", async () => {
  const server = track(await startPostgres(options));
  const url = new URL(server.url);
  url.password = "wrong";
  const pool = openPool({ url: url.toString(), applicationName: "test", connectionsMax: 1 });
  await expect(pool.query({ text: "select 1" })).rejects.toMatchObject({ code: "28P01" });
  await pool.end();
});

test("postgres makes answered commits durable: fsync and synchronous_commit are on", async () => {
  const { url } = track(await startPostgres(options));
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  const { rows } = await pool.query<{ name: string; setting: string }>({
    text: `select name, setting from pg_settings
           where name in ('fsync', 'synchronous_commit', 'full_page_writes') order by name`,
  });
  await pool.end();
  expect(rows.map(({ setting }) => setting)).toEqual(["on", "on", "on"]);
});

test("a damaged postgres folder is refused with a message that says what to do", async () => {
  const server = await startPostgres(options);
  await server.stop();
  await rm(join(dataDir, "postgres", "PG_VERSION"));
  await expect(startPostgres(options)).rejects.toThrow(
    /not a Postgres data folder.*Restore it from a backup, or move/s,
  );
});

test("a fresh database is empty, separate from others, and gone after drop", async () => {
  const servers = serverUrls();
  const one = await freshDatabase({ label: "one", servers });
  const other = await freshDatabase({ label: "other", servers });
  await writePostgres(one.postgresUrl);
  await writeClickhouse(one.clickhouseUrl);
  await expect(readPostgres(other.postgresUrl)).rejects.toMatchObject({ code: "42P01" });
  await expect(readClickhouse(other.clickhouseUrl)).rejects.toMatchObject({ code: "60" });
  expect(await readClickhouse(one.clickhouseUrl)).toBe("kept");
  await one.drop();
  await other.drop();
  await expect(readPostgres(one.postgresUrl)).rejects.toMatchObject({ code: "3D000" });
});

function track<Server extends EmbeddedServer>(server: Server): Server {
  opened.push(server);
  return server;
}

/** Starts the server from a process of its own, which can be killed. */
async function startInProcess(
  name: keyof typeof SERVERS,
): Promise<{ url: string; starter: ChildProcess }> {
  const { program } = SERVERS[name];
  const file = projectFile(".build", "deploy", "local", `${program}.js`);
  const { report: _, ...plain } = options;
  const script = `
    const started = Object.entries(await import(${JSON.stringify(file)})).find(([name]) => /^start/.test(name))[1];
    const report = { note() {}, warn() {} };
    const server = await started({ ...${JSON.stringify(plain)}, report });
    process.stdout.write(server.url);
    setInterval(() => {}, 1000);`;
  const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  opened.push({ stop: async () => void starter.kill("SIGKILL") });
  starter.stdout.setEncoding("utf8");
  const url = await new Promise<string>((resolve, reject) => {
    starter.stdout.once("data", resolve);
    starter.once("exit", () => reject(new Error(`the starter of ${name} ended at once`)));
  });
  return { url, starter };
}

async function writePostgres(url: string): Promise<void> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  await pool.query({ text: "create table proof (word text)" });
  await pool.query({ text: "insert into proof (word) values ('kept')" });
  await pool.end();
}

async function readPostgres(url: string): Promise<string | undefined> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  try {
    const { rows } = await pool.query<{ word: string }>({ text: "select word from proof" });
    return rows[0]?.word;
  } finally {
    await pool.end();
  }
}

async function writeNats(url: string): Promise<void> {
  const nats = await connectNats({ url, name: "test", prefix: "test" });
  const manager = await jetstreamManager(nats.connection);
  await manager.streams.add({ name: "test_proof", subjects: ["test_proof"] });
  await nats.jetstream.publish("test_proof", "kept");
  await nats.connection.close();
}

async function readNats(url: string): Promise<string | undefined> {
  const nats = await connectNats({ url, name: "test", prefix: "test" });
  const manager = await jetstreamManager(nats.connection);
  const message = await manager.streams.getMessage("test_proof", { seq: 1 });
  await nats.connection.close();
  return message?.string();
}

async function writeClickhouse(url: string): Promise<void> {
  const client = openClickhouse({ url, applicationName: "test" });
  await client.command({
    query: "CREATE TABLE proof (word String) ENGINE = MergeTree ORDER BY word",
  });
  await client.insert({ table: "proof", values: [{ word: "kept" }], format: "JSONEachRow" });
  await client.close();
}

async function readClickhouse(url: string): Promise<string | undefined> {
  const client = openClickhouse({ url, applicationName: "test" });
  try {
    const result = await client.query({ query: "SELECT word FROM proof", format: "JSONEachRow" });
    const rows = await result.json<{ word: string }>();
    return rows[0]?.word;
  } finally {
    await client.close();
  }
}

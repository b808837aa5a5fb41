import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startPostgres } from "../../deploy/local/embedded-postgres.ts";
import type { EmbeddedServer } from "../../deploy/local/embedded-server.ts";
import { pickPort } from "../../deploy/local/ports.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { runtimeDir, testReport } from "../services/servers.ts";
import { until } from "../system/until.ts";

const BIND = "127.0.0.1";
const WAIT = { timeoutMs: 30_000 };
/** So that two servers run beside other tests. */
const SMALL = "shared_buffers = 32MB\nmin_wal_size = 80MB\nmax_wal_size = 256MB\n";

let folder = "";
const running: EmbeddedServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-standby-"));
  // Postgres runs as another user when the test runs as root.
  chmodSync(folder, 0o711);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the server of a data folder with a file of deploy/servers/postgres/ and these settings after it. */
async function start(name: string, file: string, settings: string): Promise<EmbeddedServer> {
  const conf = join(folder, `${name}-conf`);
  cpSync(projectFile("deploy", "servers", "postgres"), conf, { recursive: true });
  chmodSync(conf, 0o755);
  const own = join(conf, "test.conf");
  writeFileSync(own, `include '${file}'\n${SMALL}${settings}\n`);
  for (const one of ["one.conf", "primary.conf", "standby.conf", "test.conf"])
    chmodSync(join(conf, one), 0o644);
  const server = await startPostgres({
    dataDir: join(folder, name),
    port: await pickPort(BIND),
    runtimeDir: runtimeDir(),
    bind: BIND,
    report: testReport(),
    configFile: own,
  });
  running.push(server);
  return server;
}

test("with primary.conf a commit waits until a server with standby.conf has it", async () => {
  const first = await start("primary", "primary.conf", "");
  await first.stop();
  running.splice(0);
  // With the owner, whom Postgres insists on.
  execFileSync("cp", ["--archive", join(folder, "primary"), join(folder, "standby")]);
  const primary = await start("primary", "primary.conf", "");
  const pool = openPool({ url: primary.url, applicationName: "test" });
  try {
    let isCommitted = false;
    const commit = pool.query({ text: "create table kept (id int)" }).then(() => {
      isCommitted = true;
    });
    const text = "select 1 from pg_stat_activity where wait_event = 'SyncRep'";
    await until("it waits", async () => (await pool.query({ text })).rowCount === 1, WAIT);
    expect(isCommitted).toBe(false);
    const standby = await startStandby(primary);
    await commit;
    await copied(standby);
  } finally {
    await pool.end();
  }
});

/** Only the address and the password are those of this machine. */
async function startStandby(primary: EmbeddedServer): Promise<EmbeddedServer> {
  const password = readFileSync(join(folder, "primary", "postgres-backup.password"), "utf8");
  const { port } = new URL(primary.url);
  const from = `host=${BIND} port=${port} user=tracker_backup password=${password.trim()}`;
  const data = join(folder, "standby", "postgres");
  writeFileSync(join(data, "standby.signal"), "");
  const settings = `primary_conninfo = '${from}'\nprimary_slot_name = ''`;
  return await start("standby", "standby.conf", settings);
}

async function copied({ url }: EmbeddedServer): Promise<void> {
  const pool = openPool({ url, applicationName: "test" });
  try {
    const text = "select 1 where pg_is_in_recovery() and to_regclass('kept') is not null";
    await until("it has it", async () => (await pool.query({ text })).rowCount === 1, WAIT);
  } finally {
    await pool.end();
  }
}

import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unknownEntries } from "../../../deploy/backup/data-dir-entries.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { findProcesses, type Job, killJob } from "../../system/processes.ts";
import { serversOf } from "../../system/servers-of.ts";
import { freePort, type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const JOBS: readonly Job[] = ["ingress", "processors", "api", "clickhouse", "nats", "postgres"];

/** Begun on an empty folder; the tests below kill and restart it. */
let service: System;

beforeAll(async () => {
  // As a user starts it: an empty variable counts as unset, so `npm start` decides that it is relaxed (G257).
  service = await startSystem({ isEmpty: true, env: { DURABILITY: "" } });
});
afterAll(() => service[Symbol.asyncDispose]());

test("a port in use is reported with the variable that changes it", async () => {
  const occupied = await listenSomewhere();
  const port = portOf(occupied);
  const { code, output } = await launch({
    TRACKING_PORT: String(port),
    API_PORT: String(await freePort()),
  });
  occupied.close();
  expect(code).toBeGreaterThan(0);
  expect(output).toMatch(/TRACKING_PORT/);
  expect(output).toContain(String(port));
});

test("all wrong settings are reported at once, and nothing is started", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "tracker-unstarted-"));
  const wrong = { TRACKING_PORT: "eighty", LOG_LEVEL: "loud" };
  const { code, output } = await launch({ ...wrong, DATA_DIR: dataDir });
  expect(code).toBe(2);
  expect(output).toContain("TRACKING_PORT");
  expect(output).toContain("LOG_LEVEL");
  expect(readdirSync(dataDir)).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

test("an unreachable NATS_URL is reported with the setting to change", async () => {
  const { code, output } = await launch({
    NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    TRACKING_PORT: String(await freePort()),
    API_PORT: String(await freePort()),
  });
  expect(code).toBeGreaterThan(0);
  expect(output).toContain("NATS_URL");
});

test("a corrupt DATA_DIR is reported with the folder to look at", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "tracker-corrupt-"));
  mkdirSync(join(dataDir, "postgres"), { recursive: true });
  writeFileSync(join(dataDir, "postgres", "PG_VERSION"), "not a version\n");
  const { code, output } = await launch({
    DATA_DIR: dataDir,
    TRACKING_PORT: String(await freePort()),
    API_PORT: String(await freePort()),
  });
  rmSync(dataDir, { recursive: true, force: true });
  expect(code).toBeGreaterThan(0);
  expect(output).toContain(join(dataDir, "postgres"));
});

test("a backup has every entry of a used DATA_DIR, or a reason why a restore needs nothing of it", () => {
  expect(unknownEntries(service.dataDir)).toEqual([]);
});

test("kill -9 of the launcher loses no data, and nothing it leaves blocks the next start", async () => {
  const offers = await service.client.rest("/offers");
  service.launcher.kill("SIGKILL");
  service = await startSystem({ dataDir: service.dataDir });
  expect(await service.client.rest("/offers")).toEqual(offers);
});

test("two instances run side by side, and a child that dies is restarted while the others run on", async () => {
  const one = service;
  await using other = await startSystem();
  expect(one.client.demo.tracking_url).not.toBe(other.client.demo.tracking_url);
  const [apiBefore] = await findProcesses(one.dataDir, "api");
  const [processorsBefore] = await findProcesses(one.dataDir, "processors");
  await killJob(one.dataDir, "processors");
  await until("the processors are restarted", async () => {
    const [pid] = await findProcesses(one.dataDir, "processors");
    return pid !== undefined && pid !== processorsBefore;
  });
  expect((await findProcesses(one.dataDir, "api"))[0]).toBe(apiBefore);
  expect(await one.client.rest("/me")).toMatchObject({ data: { key: { role: "admin" } } });
  expect(await other.client.rest("/me")).toMatchObject({ data: { key: { role: "admin" } } });
});

test("the launcher of a killed one ends every process, and refuses a Postgres whose schema is newer", async () => {
  const { postgres } = await serversOf(service);
  const pool = openPool({ url: postgres, applicationName: "test" });
  await pool.query({
    text: "insert into schema_migration (number, name) values (9999, '9999_of_tomorrow.sql')",
  });
  await pool.end();
  expect(await service.stop()).toBe(0);
  for (const job of JOBS) expect(await findProcesses(service.dataDir, job), job).toEqual([]);
  const { code, output } = await launch({
    DATA_DIR: service.dataDir,
    TRACKING_PORT: String(await freePort()),
    API_PORT: String(await freePort()),
  });
  expect(code).toBeGreaterThan(0);
  expect(output).toContain("newer release");
});

/** Runs the launcher until it exits. Returns its exit code and its output. */
async function launch(
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const dataDir = env["DATA_DIR"] ?? (await mkdtemp(join(tmpdir(), "tracker-launch-")));
  const child = spawn(process.execPath, [projectFile(".build", "deploy", "local", "main.js")], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      RUNTIME_DIR: projectFile("node_modules", ".cache", "tracker-runtime"),
      DEMO_TRAFFIC: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGTERM"), 90_000);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  if (env["DATA_DIR"] === undefined) await rm(dataDir, { recursive: true, force: true });
  return { code, output };
}

async function listenSomewhere(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

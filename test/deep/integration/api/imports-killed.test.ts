import { afterEach, expect, test, vi } from "vitest";
import { SILENT_SECONDS } from "../../../../api/workspace/imports/import-runs.ts";
import { ApiWorld, someText, type Tenant } from "../../../integration/api/api-world.ts";
import {
  HeldImport,
  importIn,
  partnersOf,
  ROWS_HELD,
  sendImport,
  storedOf,
  untilEnded,
} from "../../../integration/api/import-calls.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { openStores } from "../../../services/stores.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { nodeProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

/** Within this time a run has to count as killed. */
vi.setConfig({ testTimeout: 120_000 });

const QUERY = { kind: "affiliates", format: "csv" };

// This process has no api, so that one of the processes below runs each import.
const world = await forThisFile(
  openStores({ label: "imports" }).then((parts) => new ApiWorld(parts)),
);
const held = await HeldImport.prepare(world);
const running = new Set<ChildServer>();
// A process of another test would run imports, too.
afterEach(async () => {
  await Promise.all([...running].map(async (api) => await api.end()));
  running.clear();
});
let tenants = 0;

async function tenant(): Promise<Tenant> {
  tenants += 1;
  return await world.addTenant(`killed${tenants}`);
}

async function startApi(): Promise<ChildServer> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = { ...world.env, API_PORT: String(port), OPS_PORT: String(await freePort()) };
  const api = await ChildServer.start(nodeProgram("api"), `${origin}/health`, env);
  running.add(api);
  return api;
}

function originOf(api: ChildServer): string {
  return new URL(api.url).origin;
}

/** Sends the file to the only process that runs yet. Returns the id when rows are written. */
async function untilWriting(
  first: ChildServer,
  of: Tenant,
  { content, ...options }: Readonly<Record<string, string>> & { readonly content: string },
): Promise<number> {
  const caller = { origin: originOf(first), key: of.keys.admin };
  const answer = await sendImport(world, { ...QUERY, ...options }, content, caller);
  expect(answer.status).toBe(202);
  await held.untilSomeAreWritten(of);
  expect(first.output).toContain("import.begun");
  return importIn(answer).id;
}

test("after kill -9 another process runs it again: no row twice, none missing, no fault forgotten", async () => {
  const of = await tenant();
  const first = await startApi();
  const rows = (await held.rows(of)).map((name) => `${name},\n`);
  // Without a code nothing but its fault says that this row was not written.
  const content = `name,email\nFaulty,nobody\n${rows.join("")}`;
  const id = await untilWriting(first, of, { content, skip_faulty: "1" });
  const second = await startApi();
  first.signal("SIGKILL");
  expect(await first.ended).toBe(null);
  const killedAtMs = Date.now();
  await held.letGo();
  const caller = { origin: originOf(second), key: of.keys.admin };
  const ended = await untilEnded(world, id, caller);
  expect(ended).toMatchObject({
    status: "done",
    rows_checked: ROWS_HELD + 1,
    rows_created: ROWS_HELD,
    rows_left_out: 1,
    rows_faulty: 1,
    rows_already_written: 0,
  });
  expect(ended.faults).toEqual([{ row: 2, field: "email", message: someText }]);
  expect(await partnersOf(world, of)).toEqual({ names: ROWS_HELD + 1, found: ROWS_HELD + 1 });
  expect(await storedOf(world, of)).toEqual({ imports: 1, parts: 0 });
  expect(Date.now() - killedAtMs).toBeGreaterThan(SILENT_SECONDS * 500);
});

test("a process that is told to end leaves its import after its rows, and another runs it at once", async () => {
  const of = await tenant();
  const first = await startApi();
  const content = `name\n${(await held.rows(of)).join("\n")}\n`;
  const id = await untilWriting(first, of, { content });
  const second = await startApi();
  const caller = { origin: originOf(second), key: of.keys.admin };
  const ending = first.end();
  await held.letGo();
  expect(await ending).toBe(0);
  running.delete(first);
  await until("the second process has it", () => second.output.includes("import.begun"), {
    // Far less than a killed run counts as running.
    timeoutMs: SILENT_SECONDS * 400,
    pollMs: 20,
  });
  const ended = await untilEnded(world, id, caller);
  expect(ended).toMatchObject({
    status: "done",
    rows_created: ROWS_HELD,
    rows_checked: ROWS_HELD,
    rows_already_written: 0,
  });
  expect(await partnersOf(world, of)).toEqual({ names: ROWS_HELD + 1, found: ROWS_HELD + 1 });
});

test("a process that stood still for too long writes nothing when it wakes up", async () => {
  const of = await tenant();
  const first = await startApi();
  const content = `name\n${(await held.rows(of)).join("\n")}\n`;
  const id = await untilWriting(first, of, { content });
  const second = await startApi();
  const caller = { origin: originOf(second), key: of.keys.admin };
  first.signal("SIGSTOP");
  await held.letGo();
  const ended = await untilEnded(world, id, caller);
  first.signal("SIGCONT");
  expect(ended).toMatchObject({ status: "done", rows_created: ROWS_HELD });
  await until(
    "the first process has noticed",
    () => /import\.(run-over|postponed)/.test(first.output),
    { pollMs: 20 },
  );
  expect(await partnersOf(world, of)).toEqual({ names: ROWS_HELD + 1, found: ROWS_HELD + 1 });
});

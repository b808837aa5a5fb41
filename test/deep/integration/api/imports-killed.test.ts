import { afterEach, expect, test, vi } from "vitest";
import { LEASE_SECONDS } from "../../../../api/workspace/imports/import-leases.ts";
import { ApiWorld, someText, type Tenant } from "../../../integration/api/api-world.ts";
import {
  importIn,
  partnersOf,
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

/** A lease has to run out. */
vi.setConfig({ testTimeout: 120_000 });

const ROWS = 3_000;
const QUERY = { kind: "affiliates", format: "csv" };

// Without an api in this process, so that one of the processes below carries each import out.
const world = await forThisFile(
  openStores({ label: "imports" }).then((parts) => new ApiWorld(parts)),
);
const running = new Set<ChildServer>();
// A process of another test would carry out imports, too.
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

/** Partners without codes: nothing but the record of the import says which are written. One has a code. */
function partners(codeAt: number): string {
  const rows = Array.from({ length: ROWS }, (_, index) =>
    index === codeAt ? "TAKEN123,Taken\n" : `,Partner ${index}\n`,
  );
  return `code,name\n${rows.join("")}`;
}

type Progress = { status: string; created: number; faults: { row: number }[] };

/** From Postgres, so that the last lines of a process's log are about its imports. */
async function progressOf(id: number): Promise<Progress> {
  const { rows } = await world.pool.query<Progress>({
    text: "select status, rows_created as created, faults from import where id = $1",
    values: [id],
  });
  return rows[0] ?? { status: "", created: 0, faults: [] };
}

/** Sends the file to the first process, which carries it out. Returns the id when rows are written. */
async function untilWriting(
  first: ChildServer,
  of: Tenant,
  content: string,
  more = {},
): Promise<number> {
  const caller = { origin: originOf(first), key: of.keys.admin };
  const answer = await sendImport(world, { ...QUERY, ...more }, content, caller);
  expect(answer.status).toBe(202);
  const { id } = importIn(answer);
  await until("rows are written", async () => (await progressOf(id)).created > 0, {
    timeoutMs: 60_000,
    pollMs: 20,
  });
  expect(first.output).toContain("import.leased");
  return id;
}

test("after kill -9 another process continues: no row twice, none missing, and no fault forgotten", async () => {
  const of = await tenant();
  const [first, second] = [await startApi(), await startApi()];
  const id = await untilWriting(first, of, partners((ROWS * 2) / 3), { skip_faulty: "1" });
  const caller = { origin: originOf(second), key: of.keys.admin };
  const taken = await world.callAt(caller.origin, "POST", "/affiliates", {
    key: caller.key,
    body: { name: "First", code: "TAKEN123" },
  });
  expect(taken.status).toBe(201);
  await until("the row is refused", async () => (await progressOf(id)).faults.length > 0, {
    pollMs: 5,
  });
  first.signal("SIGKILL");
  expect(await first.ended).toBe(null);
  const killedAtMs = Date.now();
  const left = await progressOf(id);
  expect(left.status).toBe("writing");
  expect(left.created).toBeLessThan(ROWS - 1);
  const ended = await untilEnded(world, id, caller);
  expect(ended).toMatchObject({
    status: "done",
    rows_checked: ROWS,
    rows_created: ROWS - 1,
    rows_left_out: 1,
    rows_faulty: 1,
    rows_already_written: 0,
  });
  expect(ended.faults).toEqual([{ row: (ROWS * 2) / 3 + 2, field: "code", message: someText }]);
  expect(await partnersOf(world, of)).toEqual({ names: ROWS + 1, found: ROWS + 1 });
  expect(await storedOf(world, of)).toEqual({ imports: 1, parts: 0 });
  expect(Date.now() - killedAtMs).toBeGreaterThan(LEASE_SECONDS * 500);
});

test("a process that is told to end lets its import go after its rows, and another goes on at once", async () => {
  const of = await tenant();
  const [first, second] = [await startApi(), await startApi()];
  const id = await untilWriting(first, of, partners(0));
  const caller = { origin: originOf(second), key: of.keys.admin };
  expect(await first.end()).toBe(0);
  running.delete(first);
  await until("the second process has it", () => second.output.includes("import.leased"), {
    // Far less than a lease.
    timeoutMs: LEASE_SECONDS * 400,
    pollMs: 20,
  });
  const ended = await untilEnded(world, id, caller);
  expect(ended).toMatchObject({ status: "done", rows_created: ROWS, rows_checked: ROWS });
  expect(await partnersOf(world, of)).toEqual({ names: ROWS + 1, found: ROWS + 1 });
});

test("a process that stood still for longer than its lease writes nothing when it wakes up", async () => {
  const of = await tenant();
  const [first, second] = [await startApi(), await startApi()];
  const id = await untilWriting(first, of, partners(0));
  const caller = { origin: originOf(second), key: of.keys.admin };
  first.signal("SIGSTOP");
  const ended = await untilEnded(world, id, caller);
  first.signal("SIGCONT");
  expect(ended).toMatchObject({ status: "done", rows_created: ROWS });
  await until(
    "the first process has noticed",
    () => /import\.(lease-lost|postponed)/.test(first.output),
    { pollMs: 20 },
  );
  expect(await partnersOf(world, of)).toEqual({ names: ROWS + 1, found: ROWS + 1 });
});

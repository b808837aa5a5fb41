import { request } from "node:http";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../../api/access/insert-key.ts";
import { InstallationSlots } from "../../../../api/http/slots/installation-slots.ts";
import { openClickhouse } from "../../../../schemas/clickhouse/connect.ts";
import { ApiWorld } from "../../../integration/api/api-world.ts";
import { whileTableIsLocked } from "../../../integration/api/locked-table.ts";
import { McpCaller } from "../../../integration/api/mcp-caller.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

/** The time limit of a report's statements, after which the server ends them. */
const STATEMENT_MS = 20_000;
const ENDLESS = 1_000_000_000_000;
const REPORT = "/api/v1/reports?preset=today";

const world = await forThisFile(ApiWorld.open());
const origin = world.origin;
const otherOrigin = await world.startAnother();

/** Ids of the statements on this test's database that the server is executing. */
async function running(): Promise<string[]> {
  const answer = await world.clickhouse.query({
    query: `select query_id from system.processes
      where current_database = {name: String} and startsWith(Settings['log_comment'], 'api.')`,
    query_params: { name: world.database.name },
    format: "JSONEachRow",
  });
  const rows = z.array(z.object({ query_id: z.string() })).parse(await answer.json());
  return rows.map(({ query_id }) => query_id);
}

async function untilRunning(statements: number): Promise<void> {
  await until(
    `${statements} statements are running`,
    async () => (await running()).length === statements,
    {
      timeoutMs: STATEMENT_MS,
    },
  );
}

/** Replaces a table by a view; the returned function undoes that. */
async function replaceTable(table: string, select: string): Promise<() => Promise<void>> {
  await world.clickhouse.command({ query: `rename table ${table} to stored_${table}` });
  await world.clickhouse.command({ query: `create view ${table} as ${select}` });
  return async () => {
    await world.clickhouse.command({ query: `drop view ${table} sync` });
    await world.clickhouse.command({ query: `rename table stored_${table} to ${table}` });
  };
}

/** Makes every report of staff endless, because it reads ad costs first. The view sleeps, which costs no processor time. */
async function withEndlessReports(work: () => Promise<void>): Promise<void> {
  const undo = await replaceTable(
    "ad_cost_fact",
    `select toUInt32(sleepEachRow(0.02)) as workspace_id, '' as currency, toDateTime(number % 1000, 'UTC') as wall_time
     from numbers(${ENDLESS}) settings max_block_size = 10`,
  );
  try {
    await work();
  } finally {
    await leaveAll();
    await undo();
  }
}

type Answered = {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly body: string;
};

const leavers: (() => void)[] = [];

/** Sends a request on a new connection. `leave` closes it: then the answer is "left". */
function ask(
  key: string,
  path = REPORT,
  at = origin,
): { leave: () => void; answer: Promise<Answered | "left"> } {
  const { hostname, port } = new URL(at);
  const headers = { authorization: `Bearer ${key}` };
  const sent = request({ hostname, port, path, headers, agent: false });
  const answer = new Promise<Answered | "left">((resolve) => {
    sent.on("error", () => resolve("left"));
    sent.on("response", (response) => {
      const { statusCode: status, headers: answered } = response;
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status, retryAfter: answered["retry-after"], body }));
    });
  });
  sent.end();
  const leave = (): void => void sent.destroy();
  leavers.push(leave);
  return { leave, answer };
}

async function leaveAll(): Promise<void> {
  for (const leave of leavers.splice(0)) leave();
  await untilRunning(0);
}

test("a key runs 4 reports at once, a workspace 8, by REST and MCP; then 429 after 2 s (#17, G205)", async () => {
  const { keys, workspaceId } = world.tenant;
  const third = await insertKey(world.pool, { workspaceId, name: "third", role: "admin" });
  const other = await world.addTenant("second");
  await withEndlessReports(async () => {
    for (let reports = 1; reports <= 4; reports += 1) ask(keys.admin);
    await untilRunning(4);
    const startedAtMs = performance.now();
    const refused = await ask(keys.admin).answer;
    const body: unknown = expect.stringContaining('"code":"rate_limited"');
    expect(refused).toEqual({ status: 429, retryAfter: "2", body });
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_900);
    const tool = await new McpCaller(origin, keys.admin).tool("run_report", { preset: "today" });
    expect([tool.isError, tool.text]).toEqual([true, expect.stringMatching(/^rate_limited: /)]);

    // Requests without a report are not delayed, nor are other keys, up to the slots of the workspace.
    const me = await ask(keys.admin, "/api/v1/me").answer;
    expect(me).toMatchObject({ status: 200 });
    for (let reports = 1; reports <= 4; reports += 1) ask(keys.analyst, `${REPORT}&format=csv`);
    await untilRunning(8);
    const full = await ask(third).answer;
    expect(full).toMatchObject({ status: 429 });
    ask(other.keys.admin);
    await untilRunning(9);
  });
});

test("a key runs 4 reports in all processes together, a workspace 8 (#17, G205)", async () => {
  const { keys, workspaceId } = world.tenant;
  const third = await insertKey(world.pool, { workspaceId, name: "fourth", role: "admin" });
  await withEndlessReports(async () => {
    const first = ask(keys.admin);
    for (const at of [origin, origin, otherOrigin]) ask(keys.admin, REPORT, at);
    await untilRunning(4);
    expect(await ask(keys.admin, REPORT, otherOrigin).answer).toMatchObject({ status: 429 });
    for (const at of [origin, origin, otherOrigin, otherOrigin]) ask(keys.analyst, REPORT, at);
    await untilRunning(8);
    expect(await ask(third, REPORT, otherOrigin).answer).toMatchObject({ status: 429 });
    first.leave();
    await untilRunning(7);
    ask(third, REPORT, otherOrigin);
    await untilRunning(8);
  });
});

test("the slots of a killed process are free when their lease has expired (#17, G205)", async () => {
  const { keyId, workspaceId } = { keyId: 4_000, workspaceId: 5_000 };
  const [dead, living] = [0, 1].map(
    () => new InstallationSlots(world.pool, { perKey: 2, perWorkspace: 3 }),
  );
  const take = (slots: InstallationSlots | undefined) => slots?.tryTake({ keyId, workspaceId });
  await until("both slots are taken", async () => (await take(dead)) && (await take(dead)), {
    timeoutMs: STATEMENT_MS,
  });
  expect(await take(living)).toBeUndefined();
  await world.pool.query({
    text: "update report_place set expires_at = now() - interval '1 second' where holder = any($1::integer[])",
    values: [[keyId, workspaceId]],
  });
  const giveBack = await take(living);
  expect(giveBack).toBeTypeOf("function");
  expect(await take(living)).toBeTypeOf("function");
  expect(await take(living)).toBeUndefined();
  giveBack?.();
  await until("its slot is free", async () => await take(living), { timeoutMs: STATEMENT_MS });
  await Promise.all([dead?.close(), living?.close()]);
  const { rows } = await world.pool.query({
    text: "select from report_place where holder = any($1::integer[])",
    values: [[keyId, workspaceId]],
  });
  expect(rows).toEqual([]);
});

test("a report whose client has left ends on the server and frees its slot at once (#17, G205)", async () => {
  const { admin } = world.tenant.keys;
  await withEndlessReports(async () => {
    const startedAtMs = performance.now();
    const first = ask(admin);
    for (let reports = 2; reports <= 4; reports += 1) ask(admin);
    await untilRunning(4);
    const before = await running();
    ask(admin, `${REPORT}&format=csv`);
    const leaving = ask(admin, `${REPORT}&format=csv`);
    leaving.leave();
    first.leave();
    expect([await first.answer, await leaving.answer]).toEqual(["left", "left"]);
    const hasChanged = async (): Promise<boolean> => {
      const now = await running();
      return now.length === 4 && now.filter((id) => before.includes(id)).length === 3;
    };
    await until("the waiting report has the slot of the one that left", hasChanged, {
      timeoutMs: STATEMENT_MS,
    });
    await leaveAll();
    // Before the server would have ended them by their time limit.
    expect(performance.now() - startedAtMs).toBeLessThan(STATEMENT_MS);
  });
});

test("a client that left before its request was admitted starts no statement (#17, G205)", async () => {
  const clickhouse = openClickhouse({ url: world.database.clickhouseUrl, applicationName: "test" });
  world.atEnd(() => clickhouse.close());
  const statements = vi.spyOn(clickhouse, "query");
  const at = await world.startAnother({ clickhouse });
  const { admin } = world.tenant.keys;
  // Before its first report, an api counts the rows of the installation.
  expect(await ask(admin, REPORT, at).answer).toMatchObject({ status: 200 });
  statements.mockClear();
  await whileTableIsLocked(world.pool, "rate_window", async () => {
    const leaving = ask(admin, REPORT, at);
    await until("its count waits for the lock", isCountWaiting, { timeoutMs: STATEMENT_MS });
    leaving.leave();
    expect(await leaving.answer).toBe("left");
    // The server sees the close before this request, which comes later.
    expect((await fetch(`${at}/health`)).status).toBe(200);
  });
  expect(await ask(admin, REPORT, at).answer).toMatchObject({ status: 200 });
  const first = statements.mock.calls.length;
  expect(await ask(admin, REPORT, at).answer).toMatchObject({ status: 200 });
  expect(statements.mock.calls.length - first, "both numbers are those of one report").toBe(first);
});

async function isCountWaiting(): Promise<boolean> {
  const waiting = await world.rows(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and query like 'insert into rate_window%'`,
  );
  return waiting.length > 0;
}

/** Makes a CSV of today larger than all buffers between the server and a client. */
async function withLargeCsv(work: (path: string) => Promise<void>): Promise<void> {
  const { workspaceId } = world.tenant;
  await world.clickhouse.insert({
    table: "click",
    values: [{ workspace_id: workspaceId, ts: Date.now() }],
    format: "JSONEachRow",
  });
  const undo = await replaceTable(
    "click",
    `select one.* except sub1, repeat(toString(number), 20) as sub1
     from (select * from stored_click limit 1) as one cross join numbers(200000) as many`,
  );
  try {
    await work(`${REPORT}&format=csv&group_by=sub1,sub2&filters=sub1:not_empty&metrics=clicks`);
  } finally {
    await leaveAll();
    await undo();
  }
}

/** Settles when the answer has begun. Nothing more of it is read. */
async function readBeginning(path: string, at: string): Promise<void> {
  const { hostname, port } = new URL(at);
  const headers = { authorization: `Bearer ${world.tenant.keys.admin}` };
  await new Promise<void>((resolve, reject) => {
    const sent = request({ hostname, port, path, headers, agent: false }, (answer) => {
      expect(answer.statusCode).toBe(200);
      answer.once("readable", () => {
        answer.read(1_000);
        resolve();
      });
      answer.on("error", () => undefined);
    });
    sent.on("error", reject).end();
    leavers.push(() => sent.destroy());
  });
}

test("a CSV that is no longer read ends its query on the server (#17, G205)", async () => {
  await withLargeCsv(async (path) => {
    const startedAtMs = performance.now();
    await readBeginning(path, origin);
    // The query runs, or sends rows to a reader that no longer reads.
    await untilRunning(1);
    await leaveAll();
    expect(performance.now() - startedAtMs).toBeLessThan(STATEMENT_MS);
  });
});

test.each([
  ["takes nothing for a while", { idleMs: 300, totalMs: 600_000 }],
  ["takes too long", { idleMs: 600_000, totalMs: 1_000 }],
])(
  "a connected client that %s loses its CSV and its slot (P40, G205)",
  async (_what, streamLimits) => {
    const at = await world.startAnother({ streamLimits });
    await withLargeCsv(async (path) => {
      const startedAtMs = performance.now();
      await Promise.all([1, 2, 3, 4].map(async () => await readBeginning(path, at)));
      const isServed = async (): Promise<boolean> => {
        const answer = await ask(world.tenant.keys.admin, `${REPORT}&metrics=payout`, at).answer;
        return answer !== "left" && answer.status === 200;
      };
      // Before the server would have ended the statements of the CSVs.
      const atMost = { timeoutMs: startedAtMs + STATEMENT_MS - performance.now() };
      expect(await until("another report has a slot", isServed, atMost)).toBe(true);
    });
  },
);

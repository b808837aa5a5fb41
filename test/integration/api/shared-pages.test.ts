import { expect, test } from "vitest";
import { z } from "zod";
import { SharedPages } from "../../../api/http/slots/shared-pages.ts";
import type { SelectStatement } from "../../../schemas/clickhouse/select.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { ApiWorld } from "./api-world.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 20 };
/** Longer than a statement can be joined. */
const TOO_LATE_MS = 1_100;

const world = await forThisFile(ApiWorld.open());

/** A page whose statement runs for `seconds`. */
function slow(name: string, seconds: number, workspace = 1): SelectStatement {
  return {
    name: `api.${name}`,
    text: `select emptyArrayString() as others, {workspace: UInt32} as d0, [toString(sum(sleepEachRow(0.1)))] as metrics
      from numbers({rows: UInt32}) settings max_block_size = 1`,
    params: { workspace, rows: seconds * 10 },
  };
}

async function statementsOf(name: string): Promise<number> {
  await world.clickhouse.command({ query: "system flush logs query_log" });
  return await count(
    `select count() as n from system.query_log where type = 'QueryStart' and log_comment = {name: String}
       and current_database = currentDatabase()`,
    name,
  );
}

async function running(name: string): Promise<number> {
  return await count(
    "select count() as n from system.processes where Settings['log_comment'] = {name: String}",
    name,
  );
}

async function count(query: string, name: string): Promise<number> {
  const query_params = { name: `api.${name}` };
  const answer = await world.clickhouse.query({ query, query_params, format: "JSONEachRow" });
  const [row] = z.array(z.object({ n: z.int() })).parse(await answer.json());
  return row?.n ?? 0;
}

test("ten equal reports at once are one statement, and each gets all rows (G205)", async () => {
  const pages = new SharedPages(world.clickhouse);
  const ask = () => pages.readerUntil(new AbortController().signal)(slow("equal", 1));
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  for (const { rows } of answers) expect(rows).toEqual([{ others: [], d0: 1, metrics: ["0"] }]);
  expect(await statementsOf("equal")).toBe(1);
  await ask();
  expect(await statementsOf("equal"), "an answer that was given is not kept").toBe(2);
});

test("reports of two workspaces share nothing (G205)", async () => {
  const pages = new SharedPages(world.clickhouse);
  const asked = [1, 2, 1].map((workspace) =>
    pages.readerUntil(new AbortController().signal)(slow("workspaces", 1, workspace)),
  );
  const rows = (await Promise.all(asked)).map((page) => page.rows[0]?.["d0"]);
  expect(rows).toEqual([1, 2, 1]);
  expect(await statementsOf("workspaces")).toBe(2);
});

test("a report joins no statement that began more than a second earlier", async () => {
  const pages = new SharedPages(world.clickhouse);
  const ask = () => pages.readerUntil(new AbortController().signal)(slow("late", 3));
  const first = ask();
  await pause(TOO_LATE_MS);
  const second = ask();
  await Promise.all([first, second, ask()]);
  expect(await statementsOf("late")).toBe(2);
});

test("a statement ends on the server when all who wait for it have left, and not before (G205)", async () => {
  const pages = new SharedPages(world.clickhouse);
  const clients = [1, 2, 3].map(() => new AbortController());
  const answers = clients.map(({ signal }) => pages.readerUntil(signal)(slow("left", 20)));
  const settled = Promise.allSettled(answers);
  await until("it runs", async () => (await running("left")) === 1, PATIENCE);
  const [first, ...others] = clients;
  first?.abort(new Error("left"));
  await expect(answers[0]).rejects.toThrow("left");
  expect(await running("left")).toBe(1);
  for (const other of others) other.abort(new Error("left"));
  await until("it has ended", async () => (await running("left")) === 0, PATIENCE);
  expect((await settled).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
});

test("a refused statement is an error for all who wait for it, and is not kept", async () => {
  const pages = new SharedPages(world.clickhouse);
  const read = (text: string) =>
    pages.readerUntil(new AbortController().signal)({ name: "api.refused", text });
  const refused = "select throwIf(number = 0, 'refused') from numbers(1)";
  const settled = await Promise.allSettled([read(refused), read(refused)]);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(read(refused)).rejects.toThrow(/refused/);
});

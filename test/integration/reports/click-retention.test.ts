import { expect, test } from "vitest";
import { z } from "zod";
import { getReport } from "../../../api/reports/get-report.ts";
import { type ErasedMonths, eraseOldClicks } from "../../../processors/schedule/click-retention.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { aClick } from "./facts.ts";
import { ReportWorld, rowsOf } from "./report-world.ts";

const NOW_MS = Date.parse("2025-06-20T12:00:00Z");
const DAYS = 60;
/** 60 days earlier is in April, so April stays. */
const OLD = ["2025-01-05T10:00:00Z", "2025-03-31T23:59:59Z"];
const YOUNG = ["2025-04-01T00:00:00Z", "2025-06-19T10:00:00Z"];

const erased: ErasedMonths = new Map();
const world = await forThisFile(ReportWorld.open());
await world.store({ clicks: [...OLD, ...YOUNG].map((at) => clickAt(at)) });
await describeVisitors();

function clickAt(at: string) {
  return aClick(world, { ts: Date.parse(at), gclid: `g-${at}`, sub1: "kept" });
}

async function describeVisitors(): Promise<void> {
  await world.clickhouse.command({
    query:
      "alter table click update ip = '203.0.113.9', visitor = 7, user_agent = 'Browser', destination = 'https://x.example/' where ip = ''",
    clickhouse_settings: { mutations_sync: "1" },
  });
}

/** Runs the task until nothing is left; returns the number of erased months. */
async function eraseAll(): Promise<number> {
  let months = 0;
  await until("nothing is left to erase", async () => {
    // Read first: if a mutation ends meanwhile, the next round erases the next month.
    const answer = await world.clickhouse.query({
      query:
        "select count() as count from system.mutations where table = 'click' and database = currentDatabase() and not is_done",
      format: "JSONEachRow",
    });
    const [row] = z.array(z.object({ count: z.int() })).parse(await answer.json());
    const begun = await eraseOldClicks(world.clickhouse, { days: DAYS, nowMs: NOW_MS, erased });
    months += begun;
    return row?.count === 0 && begun === 0 ? true : undefined;
  });
  return months;
}

async function describedMonths(): Promise<unknown> {
  const answer = await world.clickhouse.query({
    query: `select toYYYYMM(ts) as month, countIf(ip != '' or visitor != 0 or user_agent != '' or gclid != '' or destination != '') as described,
        countIf(sub1 = 'kept' and offer_id > 0) as kept
      from click group by month order by month`,
    format: "JSONEachRow",
  });
  return await answer.json();
}

async function report(group_by: string): Promise<unknown> {
  const { data, totals } = await world.get(getReport, {
    group_by,
    from: "2025-01-01",
    to: "2025-06-30",
    tz: "UTC",
  });
  return { data: rowsOf(data), totals };
}

async function positions(): Promise<unknown> {
  const answer = await world.clickhouse.query({
    query:
      "select _lane, _producer, _epoch, count(), max(_position) from click group by all order by all",
    format: "JSONEachRow",
  });
  return await answer.json();
}

test("months past the retention lose their visitors' data, and no report changes", async () => {
  const dimensions = [
    "date,offer,country",
    "sub1",
    "device_type,os",
    "hour",
    "is_unique,referrer_host",
  ];
  const before = await Promise.all(dimensions.map(report));
  const known = await positions();

  expect(await eraseAll()).toBe(2);

  expect(await describedMonths()).toEqual([
    { month: 202501, described: 0, kept: 1 },
    { month: 202503, described: 0, kept: 1 },
    { month: 202504, described: 1, kept: 1 },
    { month: 202506, described: 1, kept: 1 },
  ]);
  expect(await Promise.all(dimensions.map(report))).toEqual(before);
  // Positions stay: a replay of an erased month adds nothing (P9).
  expect(await positions()).toEqual(known);
});

test("a late click of an erased month is erased later", async () => {
  await world.store({ clicks: [clickAt("2025-01-20T10:00:00Z")] });
  expect(await eraseAll()).toBe(1);
  expect(await describedMonths()).toContainEqual({ month: 202501, described: 0, kept: 2 });
  expect(await eraseAll()).toBe(0);
});

test("a month that was erased is not read again, until a click arrives in it", async () => {
  const readRows = async (): Promise<number> => {
    const answer = await world.clickhouse.query({
      query: `select sum(read_rows) as read from system.query_log where type = 'QueryFinish'
        and current_database = currentDatabase() and log_comment = 'processors.click-retention'`,
      format: "JSONEachRow",
    });
    const [row] = z.array(z.object({ read: z.int() })).parse(await answer.json());
    return row?.read ?? 0;
  };
  const flush = { query: "system flush logs query_log" };
  await eraseAll();
  await world.clickhouse.command(flush);
  const before = await readRows();
  expect(before).toBeGreaterThan(0);
  await eraseAll();
  await world.clickhouse.command(flush);
  expect(await readRows()).toBe(before);
});

test("two processes can erase the same month at once", async () => {
  await world.store({ clicks: [clickAt("2025-02-20T10:00:00Z")] });
  await Promise.all(
    [1, 2].map(() => eraseOldClicks(world.clickhouse, { days: DAYS, nowMs: NOW_MS, erased })),
  );
  await eraseAll();
  expect(await describedMonths()).toContainEqual({ month: 202502, described: 0, kept: 1 });
});

test("an unreachable ClickHouse is an error", async () => {
  const away = openClickhouse({ url: "http://127.0.0.1:1/none", applicationName: "test" });
  try {
    await expect(eraseOldClicks(away, { days: DAYS, nowMs: NOW_MS, erased })).rejects.toThrow(
      /ECONNREFUSED/,
    );
  } finally {
    await away.close();
  }
});

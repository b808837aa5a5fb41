import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { compileReport } from "../../../api/reports/compile-report.ts";
import { parseReportRequest } from "../../../api/reports/report-request.ts";
import { getClick } from "../../../api/traffic/clicks/get-click.ts";
import { listClicks } from "../../../api/traffic/clicks/list-clicks.ts";
import {
  selectStoredPositions,
  storedSet,
} from "../../../processors/clicks/lane/stored-positions.ts";
import { CLICK_TABLE } from "../../../processors/clicks/rows/lane-table.ts";
import { selectClicks } from "../../../processors/conversions/attribute/select-clicks.ts";
import { StoredAdClicks } from "../../../processors/conversions/attribute/stored-ad-clicks.ts";
import { aClick } from "../../integration/reports/facts.ts";
import { serveReports } from "../../integration/reports/report-api.ts";
import { ReportOracle } from "../../integration/reports/report-oracle.ts";
import { rowsOf } from "../../integration/reports/report-world.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { EnginePair } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startServers } from "../../services/servers.ts";
import { SEED } from "../../system/seed.ts";
import { until } from "../../system/until.ts";
import { ShardedWorld } from "./sharded-world.ts";

const RUNS = IS_FULL ? 1_000 : 40;
if (IS_FULL) vi.setConfig({ testTimeout: 60 * 60_000 });
const REPORTS_WHILE_STORING = 6;
const DAY_MS = 86_400_000;
/** A day without other clicks. The first hours of it in UTC are the day before in New York. */
const NIGHT_MS = Date.UTC(2025, 4, 6, 1);
const MORNING = "2025-06-02";

const servers = await startServers({ need: ["postgres", "nats"], isMigrated: true });
await forThisFile({ close: () => servers.stop() });
const pair = await forThisFile(
  EnginePair.start({ isMigrated: servers.urls.template !== undefined }),
);
const world = await forThisFile(ShardedWorld.on(pair, servers.urls));
const oracle = await ReportOracle.fill(world);
const clicks = Array.from({ length: 12 }, (_, index) =>
  aClick(world, {
    ts: Date.parse(`${MORNING}T08:00:00Z`) + index * 1_000,
    gclid: index < 8 ? "on-both-shards" : "",
    sub1: `click ${index}`,
  }),
);
await world.store({ clicks });
const newestFirst = clicks.toReversed().map(({ click_id }) => click_id);

async function agrees(request: Parameters<typeof oracle.answers>[0]): Promise<void> {
  const { found, expected } = await oracle.answers(request);
  expect(found).toEqual(expected);
}

describe("clicks of four lanes on two shards", () => {
  test("every cell of any report equals a recount, for every role (P13)", async () => {
    await fc.assert(fc.asyncProperty(oracle.anyRequest(false), agrees), {
      numRuns: RUNS,
      seed: SEED,
    });
  });

  test("every cell of any comparison equals a recount, with its other period (P13)", async () => {
    await fc.assert(fc.asyncProperty(oracle.anyRequest(true), agrees), {
      numRuns: RUNS / 4,
      seed: SEED,
    });
  });

  test("a list has the clicks of both shards in one order, page by page", async () => {
    const found: unknown[] = [];
    let cursor: unknown = null;
    do {
      const query = { from: MORNING, to: MORNING, tz: "UTC", limit: "5" };
      const page = await world.get(listClicks, {
        ...query,
        ...(typeof cursor === "string" ? { cursor } : {}),
      });
      found.push(...rowsOf(page["data"]).map((row) => row["click_id"]));
      cursor = page["next_cursor"];
    } while (cursor !== null && found.length < 100);
    expect(found).toEqual(newestFirst);
  });

  test("the rows behind a cell are as many as the report counts, of both shards", async () => {
    const { data } = await world.get(listClicks, {
      from: MORNING,
      to: MORNING,
      tz: "UTC",
      filters: "sub1:starts_with:click",
    });
    expect(rowsOf(data).map((row) => row["click_id"])).toEqual(newestFirst);
  });

  test("each click is found by its id and by its ad-platform ID, on whichever shard it is", async () => {
    for (const { click_id, sub1 } of clicks.slice(0, 4)) {
      const { data } = await world.get(getClick, {}, { path: { click_id } });
      expect(data).toMatchObject({ click: { click_id, sub1 } });
      const found = await selectClicks(world.clickhouse, {
        where: "click.click_id = toFixedString(unhex({id: String}), 16)",
        order: "",
        params: { id: click_id },
      });
      expect(found).toMatchObject([{ click_id, sub1 }]);
    }
    const lookUp = { gclid: "on-both-shards", from: MORNING, to: MORNING, tz: "UTC" };
    const { click_ids } = await world.get(listClicks, lookUp);
    expect(click_ids).toEqual(newestFirst.slice(4));
    const latest = await new StoredAdClicks(world.clickhouse, { flushesMax: 1 }).find({
      kind: "gclid",
      value: "on-both-shards",
      workspaceIds: [world.seed.workspaceId],
      offerId: 0,
    });
    expect(latest).toMatchObject([{ click_id: newestFirst[4] }]);
  });

  test("the positions of a lane that has changed its shard are those of both shards", async () => {
    for (const [shard, from] of [0, 10].entries())
      await world.onShard(
        shard,
        `insert into click (_lane, _producer, _epoch, _position, ts)
          select 7, 3, 1, number + ${from}, toDateTime64('2024-01-01 00:00:00', 3, 'UTC') from numbers(10)`,
      );
    const [stored, ...others] = await selectStoredPositions(world.clickhouse, CLICK_TABLE, 7);
    expect([stored, others]).toEqual([{ producer: 3, epoch: 1, count: 20, last: 19 }, []]);
    const unknown = { producer: 3, epoch: 1, count: 0, last: 29 };
    const target = { table: CLICK_TABLE, lane: 7, stored: unknown };
    const set = await storedSet(world.clickhouse, target);
    expect(set.size).toBe(30);
  });
});

/** Days of a zone are days of UTC with some hours moved. Both must come from one snapshot of each shard. */
test("a click stored while a report is read is on its day or in no row, on every shard", async () => {
  const request = parseReportRequest(
    {
      from: "2025-05-04",
      to: "2025-05-07",
      tz: "America/New_York",
      group_by: "date,country",
      metrics: "clicks",
      filters: [],
    },
    { role: "staff", nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  const scope = { role: "staff", workspaceId: world.seed.workspaceId } as const;
  const plan = { ...request, scope, managers: undefined, costRates: undefined };
  const { text, params } = compileReport(plan, world.clickhouse.cluster);
  let isOver = false;
  const storing = [0, 1].map(async (shard) => {
    for (let at = 0; !isOver; at += 1)
      await world.onShard(
        shard,
        `insert into click (workspace_id, ts, click_id, status, country, _lane) values
          (${scope.workspaceId}, fromUnixTimestamp64Milli(${NIGHT_MS + at}, 'UTC'), '${String(at).padStart(16, "0")}', 'redirect', 'NZ', ${shard})`,
      );
  });
  const days = new Set<number>();
  const counts: number[] = [];
  try {
    for (let report = 0; report < REPORTS_WHILE_STORING; report += 1) {
      const answer = await world.clickhouse.query({
        query: `${text}, merge_tree_storage_snapshot_sleep_ms = 30`,
        query_params: params,
        format: "JSON",
      });
      const { data } = await answer.json();
      const late = Late.parse(data).filter(({ d1 }) => d1 === "NZ");
      for (const { d0, metrics } of late) {
        days.add(Number(d0));
        counts.push(Number(metrics[0]));
      }
    }
  } finally {
    isOver = true;
    await Promise.all(storing);
  }
  expect([...days]).toEqual([Math.floor(NIGHT_MS / DAY_MS) - 1]);
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});

const Late = z.array(
  z.object({ d0: z.union([z.string(), z.number()]), d1: z.string(), metrics: z.array(z.string()) }),
);

test("without one of its shards every report and list is 503, never a smaller number", async () => {
  const api = await serveReports(world);
  try {
    const range = `from=${MORNING}&to=${MORNING}&tz=UTC`;
    const paths = [
      `/reports?${range}&group_by=date&metrics=clicks`,
      `/reports?${range}&metrics=clicks&currency=EUR&convert=1`,
      `/reports/timeseries?${range}&interval=day&metrics=clicks`,
      `/clicks?${range}`,
      `/clicks?${range}&filters=country:in:US`,
      `/clicks/${newestFirst[0] ?? ""}`,
      `/clicks/${newestFirst[1] ?? ""}`,
    ];
    // Requests come one after another: a look-up has a second, and other tests may use the machine.
    const statuses = async (): Promise<number[]> => {
      const found: number[] = [];
      for (const path of paths) {
        const headers = { authorization: `Bearer ${api.keys.admin}` };
        found.push((await fetch(`${api.origin}/api/v1${path}`, { headers })).status);
      }
      return found;
    };
    await until(
      "every answer is 200",
      async () => (await statuses()).every((status) => status === 200),
      { timeoutMs: 60_000, pollMs: 100 },
    );
    const [, second] = pair.engines;
    process.kill(second.pid, "SIGKILL");
    await second.exited;
    expect(await statuses()).toEqual(paths.map(() => 503));
  } finally {
    await api.close();
  }
});

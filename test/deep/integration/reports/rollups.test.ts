import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileReport } from "../../../../api/reports/compile-report.ts";
import { hasFewRows } from "../../../../api/reports/few-rows.ts";
import { parseReportRequest } from "../../../../api/reports/report-request.ts";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { ReportWorld } from "../../../integration/reports/report-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { pause } from "../../../system/service.ts";

/** Two days of March with a click and an impression every three seconds: together more than reports read without projections. */
const ROWS = (2 * 86_400) / 3;
/** Ten minutes from 01:00 of the second day in UTC, which is still the first day in New York. */
const AT_ONE = "number between 30000 and 30200";
const RANGE = { from: "2025-03-03", to: "2025-03-04" };

const COLUMNS = `toDateTime64('2025-03-03 00:00:00', 3, 'UTC') + toIntervalMillisecond(number * 3000 + 7) as ts,
  1 + number % 4 as offer_id, 1 as advertiser_id, 1 + number % 997 as affiliate_id,
  if(number % 5 = 0, 'DE', 'US') as country, if(number % 7 = 0, 'push', '') as traffic_source,
  'go.example' as domain, if(number % 2 = 0, 'mobile', 'desktop') as device_type, 'iOS' as os, if(${AT_ONE}, 'Rare', if(number % 13 < 7, 'Safari', concat('B', toString(number % 13)))) as browser,
  concat('c', toString(number % 3)) as ext_campaign_id, concat('g', toString(number % 6)) as ext_adgroup_id,
  toString(number % 11) as sub1`;
const NAMES = `workspace_id, ts, offer_id, advertiser_id, affiliate_id, country, traffic_source, domain, device_type, os, browser,
  ext_campaign_id, ext_adgroup_id, sub1`;

const world = await forThisFile(ReportWorld.open());
const wasSmall = await hasFewRows({ db: world.pool, clickhouse: world.clickhouse });
await addClicks();
await world.clickhouse.command({
  query: `insert into impression (${NAMES}) select ${world.seed.workspaceId} as workspace_id, ${COLUMNS} from numbers(${ROWS})`,
});
for (const table of ["click", "impression"]) {
  // A merge writes the rollups.
  await world.clickhouse.command({ query: `optimize table ${table} final` });
}

async function addClicks(): Promise<void> {
  await world.clickhouse.command({
    query: `insert into click (${NAMES}, click_id, status, is_unique, is_bot, click_payout, currency)
      select ${world.seed.workspaceId} as workspace_id, ${COLUMNS},
        toFixedString(substring(concat(hex(number), '0000000000000000'), 1, 16), 16) as click_id,
        if(number % 20 = 0, 'blocked', 'redirect') as status, number % 3 != 0 as is_unique, number % 50 = 0 as is_bot,
        toDecimal64(0.0125, 4) as click_payout, multiIf(${AT_ONE}, 'GBP', offer_id = 4, 'EUR', 'USD') as currency
      from numbers(${ROWS})`,
  });
}

/** Several while a report is read. */
const INSERTS_EVERY_MS = 10;

type Asked = {
  group_by?: string;
  tz?: string;
  from?: string;
  metrics?: string;
  filters?: string[];
};

function statement(query: Asked) {
  const request = parseReportRequest(
    { ...RANGE, tz: "UTC", ...query, filters: query.filters ?? [] },
    { role: "staff", nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  const scope = { role: "staff", workspaceId: world.seed.workspaceId } as const;
  // Offer 4 has another currency than the report: whether an offer is one of these must not keep a rollup from being read.
  const homeOffers = { ids: [4], areHome: false };
  return compileReport(
    { ...request, scope, managers: undefined, homeOffers, costRates: undefined },
    undefined,
  );
}

async function answerOf({ text, params }: ReturnType<typeof statement>, suffix = "") {
  const answer = await world.clickhouse.query({
    query: `${text}${suffix}`,
    query_params: params,
    format: "JSON",
  });
  const { data, totals } = await answer.json();
  return { data, totals };
}

/** The projections that ClickHouse reads for a report, each once. */
async function projections(compiled: ReturnType<typeof statement>): Promise<string[]> {
  return [...new Set((await readings(compiled)).filter((name) => !name.includes(".")))];
}

/** What ClickHouse reads of clicks and impressions: the name of a projection, or of the table with its database. */
async function readings({ text, params }: ReturnType<typeof statement>): Promise<string[]> {
  const answer = await world.clickhouse.query({
    query: `explain projections = 1 ${text}`,
    query_params: params,
    format: "TabSeparatedRaw",
  });
  const plan = await answer.text();
  return [...plan.matchAll(/ReadFromMergeTree \(([\w.]+)\)/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.endsWith("_fact"));
}

const Rows = z.array(z.looseObject({ d0: z.union([z.string(), z.number()]), d1: z.string() }));
const Parts = z.tuple([z.object({ all: z.number(), rolled_up: z.number() })]);

const BY_ROWS = ", optimize_use_projections = 0";

test("an empty installation has few rows, and one with 300,000 has not", async () => {
  expect(wasSmall).toBe(true);
  // What is known is kept by pool, for a minute.
  const db = openPool({ url: world.database.postgresUrl, applicationName: "test" });
  try {
    expect(await hasFewRows({ db, clickhouse: world.clickhouse })).toBe(false);
  } finally {
    await db.end();
  }
});

describe("reports read rollups", () => {
  test.each([
    [{ group_by: "offer,affiliate,country" }, ["by_day"]],
    [{ group_by: "date,offer,country" }, ["by_day_country"]],
    [{ group_by: "country,device_type,os" }, ["by_day_device"]],
    [{ group_by: "date,affiliate,os" }, ["by_device"]],
    [{ group_by: "affiliate,domain", filters: ["link_type:empty"] }, ["by_day"]],
    [{ group_by: "affiliate,country", filters: ["browser:in:Safari"] }, ["by_device"]],
    [{ group_by: "ext_campaign_id,ext_adgroup_id,offer" }, ["by_campaign"]],
    [
      { group_by: "date,offer,country", tz: "America/New_York" },
      ["by_day_country", "by_half_hour_country"],
    ],
    [{ group_by: "date,affiliate", tz: "Asia/Kolkata" }, ["by_day", "by_half_hour"]],
    [{ group_by: "week,offer", tz: "Asia/Kathmandu" }, ["by_day_country", "by_half_hour_country"]],
    [{ group_by: "date,os,affiliate", tz: "America/New_York" }, ["by_device"]],
    [{ group_by: "hour,traffic_source" }, ["by_half_hour"]],
    [{ group_by: "offer", tz: "Europe/Berlin" }, ["by_day_country", "by_half_hour_country"]],
    [
      { group_by: "offer", from: "2025-03-03T10:17:00Z" },
      ["by_day_country", "by_half_hour_country"],
    ],
  ])("%j is read from %j, with the numbers of the rows", async (query, expected) => {
    const compiled = statement(query);
    expect((await projections(compiled)).toSorted()).toEqual(expected);
    const answer = await answerOf(compiled);
    expect(answer.data.length).toBeGreaterThan(1);
    expect(answer).toEqual(await answerOf(compiled, BY_ROWS));
  });

  test.each([
    ["nothing of a source is added up", { group_by: "date,offer", metrics: "clicks" }, 2],
    [
      "the hours of many days are read",
      { group_by: "date,offer", tz: "America/New_York", from: "2025-02-20" },
      4,
    ],
  ])("and nothing else, also where %s", async (_, query, count) => {
    const compiled = statement(query);
    const read = await readings(compiled);
    expect(read).toHaveLength(count);
    expect(read.filter((name) => name.includes("."))).toEqual([]);
    expect(await answerOf(compiled)).toEqual(await answerOf(compiled, BY_ROWS));
  });

  test.each([
    ...["America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati"].flatMap((tz) =>
      ["date", "week,country", "date,month,os", "offer,date,browser"].map((group_by) => ({
        tz,
        group_by,
      })),
    ),
  ])("days of a zone combined from days of UTC equal those of the rows: %j", async (query) => {
    // A filter by date makes the report read rows by the zone's time.
    const byZone = { ...query, filters: ["date:not_in:2025-01-01"] };
    const answer = await answerOf(statement(query));
    expect(answer.data.length).toBeGreaterThan(1);
    expect(answer).toEqual(await answerOf(statement(byZone), BY_ROWS));
  });

  test("a click stored while a report is read is on its day or in no row", async () => {
    const compiled = statement({ group_by: "date,browser", tz: "America/New_York" });
    let isOver = false;
    const storing = (async () => {
      for (let seconds = 0; !isOver; seconds += 1) {
        await world.clickhouse.command({
          query: `insert into click (workspace_id, ts, click_id, status, browser) values
            (${world.seed.workspaceId}, toDateTime64('2025-03-04 01:00:00', 3, 'UTC') + ${seconds}, '${String(seconds).padStart(16, "0")}', 'redirect', 'Late')`,
        });
        await pause(INSERTS_EVERY_MS);
      }
    })();
    const seen = new Set<string>();
    try {
      for (let report = 0; report < 10; report += 1) {
        const { data } = await answerOf(compiled, ", merge_tree_storage_snapshot_sleep_ms = 30");
        const late = Rows.parse(data).filter(({ d1 }) => d1 === "Late");
        for (const { d0 } of late) seen.add(`${Number(d0)}`);
        expect(late.length).toBeLessThanOrEqual(1);
      }
    } finally {
      isOver = true;
      await storing;
    }
    expect([...seen]).toEqual([`${Date.UTC(2025, 2, 3) / 86_400_000}`]);
  });

  test("dimensions without a rollup are read row by row", async () => {
    expect(await projections(statement({ group_by: "sub1" }))).toEqual([]);
    expect(await projections(statement({ group_by: "ext_campaign_id,os" }))).toEqual([]);
  });

  test("parts without a rollup count completely", async () => {
    await addClicks();
    const parts = await world.clickhouse.query({
      query: `select count() as all, countIf(has(projections, 'by_day')) as rolled_up from system.parts
              where table = 'click' and active and database = currentDatabase()`,
      format: "JSONEachRow",
    });
    const [{ all, rolled_up }] = Parts.parse(await parts.json());
    expect([rolled_up > 0, all > rolled_up]).toEqual([true, true]);
    // No other rollup has domains.
    const compiled = statement({ group_by: "offer,domain" });
    expect(await answerOf(compiled)).toEqual(await answerOf(compiled, BY_ROWS));
  });
});

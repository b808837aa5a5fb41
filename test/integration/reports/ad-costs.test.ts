import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startFacts } from "../../../processors/facts/start.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { McpCaller } from "../api/mcp-caller.ts";
import { aClick, aConversion } from "./facts.ts";
import { serveReports } from "./report-api.ts";
import { type Caller, ReportWorld, type Row, rowsOf } from "./report-world.ts";

/** A write is in reports within this time (G191). */
const WITHIN_5_S = { timeoutMs: 5_000, pollMs: 50 };
const DAY = { from: "2025-02-03", to: "2025-02-03", tz: "UTC" };
const COST_METRICS = "ad_cost,roas,net_profit";

const world = await forThisFile(ReportWorld.open());
await forThisFile(
  startFacts({
    pool: world.pool,
    clickhouse: world.clickhouse,
    log: openLog({ process: "test", level: "silent" }),
    metrics: new Metrics(),
    signal: new AbortController().signal,
  }),
);
const api = await forThisFile(serveReports(world));
await world.store({
  clicks: [aClick(world), aClick(world, { country: "DE" })],
  conversions: [aConversion(world, { revenue: "30.0000", payout: "12.0000" })],
  rates: [
    { date: "2025-01-31", currency: "USD", rate: "1.1" },
    { date: "2025-02-03", currency: "USD", rate: "1.25" },
    { date: "2025-01-27", currency: "GBP", rate: "0.8" },
  ],
});
await post([
  // On the first offer, by the first partner: 10 USD on the whole day, 4 EUR at 1.25 at 13 o'clock.
  { ...cost(), amount: "10" },
  { ...cost(), hour: 13, currency: "EUR", amount: "4" },
  // On no offer: 1 GBP at 1.25 / 0.8; the rate is seven days old.
  { date: "2025-02-03", currency: "GBP", amount: "1" },
  { date: "2025-02-03", currency: "JPY", amount: "500" },
]);

function cost(): Row {
  const [offer_id] = world.seed.offerIds;
  const [affiliate_id] = world.seed.affiliateIds;
  return {
    date: "2025-02-03",
    currency: "USD",
    offer_id,
    affiliate_id,
    traffic_source: "google",
    ext_campaign_id: "c1",
    ext_adgroup_id: "g1",
  };
}

/** Resolves when the relay has copied everything. */
async function post(rows: readonly Row[]): Promise<void> {
  const answer = await call("/ad-costs", "admin", { rows });
  expect(answer).toMatchObject({ data: { rejected: [] } });
  await until(
    "the costs are copied",
    async () => {
      const waiting = await world.pool.query({ text: "select id from ad_cost_fact_outbox" });
      return waiting.rows.length === 0;
    },
    WITHIN_5_S,
  );
}

async function call(path: string, caller: Caller, body?: unknown): Promise<Row> {
  const answer = await fetch(`${api.origin}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${api.keys[caller]}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return z.record(z.string(), z.unknown()).parse(await answer.json());
}

async function report(query: Record<string, string> = {}, caller: Caller = "analyst") {
  const search = new URLSearchParams({ ...DAY, metrics: COST_METRICS, ...query });
  const answer = await call(`/reports?${String(search)}`, caller);
  const [totals = {}] = rowsOf([answer["totals"] ?? {}]);
  return { answer, totals, rows: rowsOf(answer["data"] ?? []) };
}

async function costBy(dimension: string, query: Record<string, string> = {}) {
  const { rows } = await report({ group_by: dimension, metrics: "ad_cost", ...query });
  return Object.fromEntries(rows.map((row) => [String(row[dimension]), row["ad_cost"]]));
}

const ALL = "16.5625";

test("media spend, its return, and the net profit after partners and spend (REP-036, G72)", async () => {
  const { totals } = await report({ metrics: `revenue,payout,${COST_METRICS}` });
  expect(totals).toEqual({
    revenue: "30.0000",
    payout: "12.0000",
    ad_cost: ALL,
    roas: 1.811321,
    net_profit: "1.4375",
  });
  const { totals: nothing } = await report({ from: "2025-02-04", to: "2025-02-04" });
  expect(nothing).toEqual({ ad_cost: "0.0000", roas: null, net_profit: "0.0000" });
});

test("each cost is converted at the rate of its date, at most 7 days old, and rounded (REP-047, G76)", async () => {
  expect(await costBy("hour")).toEqual({
    "2025-02-03T00:00": "11.5625",
    "2025-02-03T13:00": "5.0000",
    "2025-02-03T10:00": "0.0000",
    "2025-02-03T11:00": "0.0000",
  });
  // The rate of the day before, not the one after.
  await post([{ ...cost(), date: "2025-02-02", currency: "EUR", amount: "10" }]);
  const before = { from: "2025-02-02", to: "2025-02-02" };
  expect((await report(before)).totals["ad_cost"]).toBe("11.0000");
  expect((await report({ ...before, currency: "EUR" })).totals["ad_cost"]).toBe("10.0000");
  // 0.0002 at 1.25 is 0.00025, three times.
  const tiny = ["a", "b", "c"].map((ext_adgroup_id) => ({
    date: "2025-02-05",
    currency: "EUR",
    ext_adgroup_id,
    amount: "0.0002",
  }));
  await post(tiny);
  const tinyDay = { from: "2025-02-05", to: "2025-02-05" };
  expect(await costBy("ext_adgroup_id", tinyDay)).toEqual({
    a: "0.0003",
    b: "0.0003",
    c: "0.0003",
  });
  expect((await report(tinyDay)).totals["ad_cost"]).toBe("0.0009");
});

test("a cost is in the row of its time, offer, partner, advertiser, source and campaign (REP-048)", async () => {
  const [offer] = world.seed.offerIds;
  const [affiliate] = world.seed.affiliateIds;
  const [advertiser] = world.seed.advertiserIds;
  const own = "15.0000";
  const rest = "1.5625";
  expect(await costBy("date")).toEqual({ "2025-02-03": ALL });
  expect(await costBy("week")).toEqual({ "2025-02-03": ALL });
  expect(await costBy("month")).toEqual({ "2025-02": ALL });
  expect(await costBy("hour")).toMatchObject({ "2025-02-03T13:00": "5.0000" });
  expect(await costBy("offer")).toEqual({ [offer]: own, 0: rest });
  expect(await costBy("affiliate")).toEqual({ [affiliate]: own, 0: rest });
  expect(await costBy("advertiser")).toEqual({ [advertiser]: own, 0: rest });
  expect(await costBy("traffic_source")).toEqual({ google: own, "": rest });
  expect(await costBy("ext_campaign_id")).toEqual({ c1: own, "": rest });
  expect(await costBy("ext_adgroup_id")).toEqual({ g1: own, "": rest });
  const { rows } = await report({ group_by: "offer,ext_campaign_id,date", metrics: "ad_cost" });
  expect(rows.map((row) => [row["offer"], row["ext_campaign_id"], row["ad_cost"]])).toEqual(
    expect.arrayContaining([
      [offer, "c1", own],
      [0, "", rest],
    ]),
  );
});

test("by any other dimension a cost is under the empty value (REP-049, T34, G73)", async () => {
  expect(await costBy("country")).toEqual({ US: "0.0000", DE: "0.0000", "": ALL });
  for (const dimension of ["is_bot", "event", "status", "device_type", "domain", "currency"])
    expect((await costBy(dimension))[""], dimension).toBe(ALL);
  for (const dimension of ["manager", "smart_link"])
    expect((await costBy(dimension))["0"], dimension).toBe(ALL);
});

describe("filters", () => {
  const filtered = async (filters: string) => (await report({ filters })).totals["ad_cost"];

  test.each(["country:in:US", "is_bot:in:false", "method:in:s2s", "domain:starts_with:go"])(
    "%s requires a value that no cost has, and excludes it (REP-050)",
    async (filters) => {
      expect(await filtered(filters)).toBe("0.0000");
    },
  );

  test.each(["country:not_in:US", "is_bot:not_in:true", "method:not_in:s2s", "os:empty"])(
    "%s keeps it (REP-051)",
    async (filters) => {
      expect(await filtered(filters)).toBe(ALL);
    },
  );

  test.each(["event:in:sale", "event:not_in:sale", "status:in:approved", "status:not_in:pending"])(
    "%s leaves it unchanged (REP-052)",
    async (filters) => {
      expect(await filtered(filters)).toBe(ALL);
    },
  );

  test("filters of its own dimensions apply to it (REP-048)", async () => {
    const [offer] = world.seed.offerIds;
    expect(await filtered(`offer:in:${offer}`)).toBe("15.0000");
    expect(await filtered(`offer:not_in:${offer}`)).toBe("1.5625");
    expect(await filtered("ext_campaign_id:empty")).toBe("1.5625");
    expect(await filtered("traffic_source:contains:goo,hour:in:2025-02-03T13:00")).toBe("5.0000");
  });
});

test("a currency without a usable rate is not counted and is listed in other_currencies (REP-053)", async () => {
  expect((await report()).answer["other_currencies"]).toEqual(["JPY"]);
  expect((await report({ currency: "JPY" })).totals["ad_cost"]).toBe("500.0000");
  expect((await report({ currency: "JPY" })).answer["other_currencies"]).toEqual([
    "EUR",
    "GBP",
    "USD",
  ]);
  // A rate of eight days is too old.
  await post([{ date: "2025-02-04", currency: "GBP", amount: "1" }]);
  const { totals, answer } = await report({ from: "2025-02-04", to: "2025-02-04" });
  expect([totals["ad_cost"], answer["other_currencies"]]).toEqual(["0.0000", ["GBP"]]);
  expect((await report({ filters: "country:in:US" })).answer["other_currencies"]).toEqual([]);
});

test("a cost set to the amount 0 is no longer listed (REP-053)", async () => {
  const fee = { date: "2025-02-06", currency: "JPY", amount: "5" };
  const day = { from: "2025-02-06", to: "2025-02-06" };
  await post([fee]);
  expect((await report(day)).answer["other_currencies"]).toEqual(["JPY"]);
  await post([{ ...fee, amount: "0" }]);
  expect((await report(day)).answer["other_currencies"]).toEqual([]);
});

test("a changed amount replaces the earlier one (REP-036)", async () => {
  const day = { from: "2025-02-07", to: "2025-02-07" };
  for (const amount of ["5", "7.5", "2.0001"]) {
    await post([{ ...cost(), date: "2025-02-07", amount }]);
    expect((await report(day)).totals["ad_cost"]).toBe(Number(amount).toFixed(4));
  }
});

test.each(["UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago"])(
  "a cost has its date and hour in any zone (%s) (REP-048)",
  async (tz) => {
    const { rows } = await report({ tz, group_by: "hour", metrics: "ad_cost" });
    const hours = rows.filter((row) => row["ad_cost"] !== "0.0000").map((row) => row["hour"]);
    expect(hours).toEqual(["2025-02-03T00:00", "2025-02-03T13:00"]);
  },
);

describe("clocks that change", () => {
  // 02:00 is skipped in Berlin on 30 March and shown twice on 26 October; Beirut skips midnight of 30 March.
  const days = ["2025-03-30", "2025-10-26"];

  beforeAll(async () => {
    await post(
      days.flatMap((date) =>
        [null, 1, 2, 3].map((hour) => ({ date, hour, currency: "USD", amount: "1" })),
      ),
    );
  });

  test("a skipped hour is the next one, a repeated one counts once, also at midnight (REP-048, T71)", async () => {
    const berlin = { tz: "Europe/Berlin" };
    const spring = { ...berlin, from: "2025-03-30", to: "2025-03-30" };
    const autumn = { ...berlin, from: "2025-10-26", to: "2025-10-26" };
    expect(await costBy("hour", spring)).toEqual({
      "2025-03-30T00:00": "1.0000",
      "2025-03-30T01:00": "1.0000",
      "2025-03-30T03:00": "2.0000",
    });
    expect(await costBy("hour", autumn)).toEqual({
      "2025-10-26T00:00": "1.0000",
      "2025-10-26T01:00": "1.0000",
      "2025-10-26T02:00": "1.0000",
      "2025-10-26T03:00": "1.0000",
    });
    const beirut = { tz: "Asia/Beirut", from: "2025-03-30", to: "2025-03-30" };
    expect((await report(beirut)).totals["ad_cost"]).toBe("4.0000");
    const eve = { tz: "Asia/Beirut", from: "2025-03-29", to: "2025-03-29" };
    expect((await report(eve)).totals["ad_cost"]).toBe("0.0000");
  });

  test("every cost has a bucket in the series of such a day (TS-003)", async () => {
    for (const [index, date] of days.entries()) {
      const answer = await call(
        `/reports/timeseries?interval=hour&tz=Europe/Berlin&from=${date}&to=${date}&metrics=ad_cost`,
        "admin",
      );
      const data = rowsOf(answer["data"]);
      expect(data).toHaveLength(index === 0 ? 23 : 25);
      expect(data.filter((row) => row["ad_cost"] !== "0.0000")).toHaveLength(index === 0 ? 3 : 4);
      const sum = data.reduce((total, row) => total + Number(row["ad_cost"]), 0);
      expect(sum).toBe(4);
    }
  });
});

test("the series, the CSV and the tools of MCP show the same costs", async () => {
  const answer = await call(
    "/reports/timeseries?from=2025-02-03&to=2025-02-04&tz=UTC&metrics=ad_cost,net_profit",
    "admin",
  );
  expect(answer["data"]).toEqual([
    { bucket: "2025-02-03", ad_cost: ALL, net_profit: "1.4375" },
    { bucket: "2025-02-04", ad_cost: "0.0000", net_profit: "0.0000" },
  ]);
  const csv = await fetch(
    `${api.origin}/api/v1/reports?from=2025-02-03&to=2025-02-03&tz=UTC&group_by=date&metrics=${COST_METRICS}&format=csv`,
    { headers: { authorization: `Bearer ${api.keys.admin}` } },
  );
  expect(await csv.text()).toBe(
    [
      "Date,Ad cost (USD),ROAS,Net profit (USD)",
      `2025-02-03,${ALL},1.811321,1.4375`,
      `Totals,${ALL},1.811321,1.4375`,
      "Note: amounts in JPY are not included",
      "",
    ].join("\r\n"),
  );
  const mcp = new McpCaller(api.origin, api.keys.analyst);
  const answered = await mcp.tool("run_report", {
    ...DAY,
    group_by: ["date"],
    metrics: ["ad_cost"],
  });
  expect(JSON.stringify(answered)).toContain(ALL);
});

test("reports of partners and advertisers contain no cost and no row for one (REP-056, REP-061)", async () => {
  for (const caller of ["partner", "advertiser"] as const) {
    const { rows, answer } = await report(
      { group_by: "traffic_source", metrics: "clicks" },
      caller,
    );
    expect(rows.map((row) => row["traffic_source"])).toEqual([""]);
    expect(answer["other_currencies"]).toEqual([]);
    const refused = await report({ metrics: "ad_cost" }, caller);
    expect(refused.answer).toMatchObject({
      error: { code: "invalid_parameter", details: { param: "metrics" } },
    });
  }
});

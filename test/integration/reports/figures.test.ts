import { describe, expect, test } from "vitest";
import { z } from "zod";
import { getReport } from "../../../api/reports/get-report.ts";
import { getTimeseries } from "../../../api/reports/get-timeseries.ts";
import { listDimensions, listMetrics } from "../../../api/reports/list-definitions.ts";
import { FILTER_OPERATORS } from "../../../api/reports/report-filters.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick, aConversion, anImpression } from "./facts.ts";
import { type Caller, ReportWorld, rowsOf } from "./report-world.ts";
import { refusal, report, rows, totals } from "./small-world.ts";

const MONDAY = { from: "2025-09-01", to: "2025-09-01", tz: "UTC" };
const MIXED = { from: "2025-09-10", to: "2025-09-10", tz: "UTC" };
const at = (time: string): number => Date.parse(`${time}Z`);

const world = await forThisFile(ReportWorld.open());
const [offer, otherOffer, , euroOffer] = world.seed.offerIds;
await world.store({
  clicks: [
    aClick(world, { ts: at("2025-09-01T03:10:00") }),
    aClick(world, { ts: at("2025-09-01T03:50:00"), is_bot: true, is_unique: false }),
    aClick(world, { ts: at("2025-09-01T22:00:00"), offer_id: otherOffer }),
    ...[0, 1, 2, 3].map(() => aClick(world, { ts: at("2025-09-10T08:00:00") })),
    aClick(world, { ts: at("2025-09-10T08:00:00"), offer_id: euroOffer, currency: "" }),
  ],
  impressions: [0, 1, 2, 3].map(() => anImpression(world, { ts: at("2025-09-01T03:00:00") })),
  conversions: [
    aConversion(world, { conv_ts: at("2025-09-01T04:00:00"), payout: "2.5000" }),
    aConversion(world, { conv_ts: at("2025-09-01T05:00:00"), status: "pending", payout: "3.0000" }),
    aConversion(world, {
      conv_ts: at("2025-09-01T06:00:00"),
      status: "rejected",
      status_reason: "fraud:bot",
      revenue: "7.0000",
      payout: "4.0000",
    }),
    aConversion(world, {
      conv_ts: at("2025-09-01T07:00:00"),
      status: "rejected",
      status_reason: "duplicate",
      is_duplicate: true,
      revenue: "1.0000",
      payout: "0.5000",
    }),
    aConversion(world, { conv_ts: at("2025-09-10T09:00:00"), sale_amount: "80.0000" }),
    aConversion(world, {
      conv_ts: at("2025-09-10T09:30:00"),
      currency: "EUR",
      sale_amount: "90.0000",
    }),
  ],
});

describe("metrics that are answered when they are named (N101)", () => {
  test("count what their definitions say", async () => {
    const metrics =
      "gross_conversions,duplicates,approval_rate,pending_revenue,pending_payout,rejected_revenue,rejected_payout,ecpm";
    expect(await totals(world, { ...MONDAY, metrics })).toEqual({
      gross_conversions: 3, // 1 approved + 1 pending + 2 rejected - 1 duplicate
      duplicates: 1,
      approval_rate: 0.333333, // 1 / (1 + 2)
      pending_revenue: "15.0000",
      pending_payout: "3.0000",
      rejected_revenue: "8.0000", // 7 + 1
      rejected_payout: "4.5000", // 4 + 0.5
      ecpm: "625.0000", // 1000 * 2.5 / 4
    });
    expect(Object.keys(await totals(world, MONDAY))).not.toContain("duplicates");
  });

  test("conversions split by the time from click to conversion, in its order", async () => {
    const convTs = at("2025-09-20T12:00:00");
    const after = (delayMs: number | null) =>
      aConversion(world, { conv_ts: convTs, click_ts: delayMs === null ? null : convTs - delayMs });
    const [minute, day] = [60_000, 86_400_000];
    await world.store({
      conversions: [null, 0, minute - 1, minute, day - 1, day, 30 * day].map(after),
    });
    const query = { from: "2025-09-20", to: "2025-09-20", tz: "UTC", metrics: "conversions" };
    const found = await rows(world, {
      ...query,
      group_by: "conversion_delay",
      sort: "conversion_delay",
    });
    expect(found.map((row) => [row["conversion_delay"], row["conversions"]])).toEqual([
      ["", 1],
      ["1m", 2],
      ["5m", 1],
      ["1d", 1],
      ["3d", 1],
      ["more", 1],
    ]);
    expect(found[1]?.["conversion_delay_label"]).toBe("Below 1 minute");
    const filters = "conversion_delay:in:1d|more";
    expect(await totals(world, { ...query, filters })).toEqual({ conversions: 2 });
    expect(await refusal(report(world, { ...query, filters: "conversion_delay:in:2d" }))).toEqual([
      "invalid_parameter",
      "filters",
    ]);
  });

  test("rejected conversions split by their reason, with what was lost", async () => {
    const query = {
      ...MONDAY,
      group_by: "conversion_reason",
      metrics: "rejected_conversions,rejected_revenue",
    };
    const found = await rows(world, {
      ...query,
      sort: "-rejected_revenue",
      filters: "status:in:rejected",
    });
    expect(found).toMatchObject([
      { conversion_reason: "fraud:bot", rejected_conversions: 1, rejected_revenue: "7.0000" },
      { conversion_reason: "duplicate", rejected_conversions: 1, rejected_revenue: "1.0000" },
      // Clicks have no reason.
      { conversion_reason: "", rejected_conversions: 0 },
    ]);
  });

  test.each([
    ["partner", "pending_revenue", "pending_payout"],
    ["partner", "rejected_revenue", "rejected_payout"],
    ["advertiser", "pending_payout", "pending_revenue"],
    ["advertiser", "rejected_payout", "rejected_revenue"],
  ] as const)("%s keys may not ask for %s, but for %s", async (caller, hidden, shown) => {
    expect(await refusal(report(world, { ...MONDAY, metrics: hidden }, caller))).toEqual([
      "invalid_parameter",
      "metrics",
    ]);
    expect(Object.keys(await totals(world, { ...MONDAY, metrics: shown }, caller))).toEqual([
      shown,
    ]);
  });
});

describe("money of several currencies", () => {
  const metrics = "clicks,conversions,payout,epc,rpc,cpc,avg_sale_amount,ecpm,roas,margin,cvr";

  test("is divided by the clicks and conversions of offers in its currency (#36, REP-033, REP-035, G237)", async () => {
    expect(await totals(world, { ...MIXED, metrics })).toEqual({
      clicks: 5,
      conversions: 2,
      payout: "10.0000",
      // 4 of the clicks, and 1 of the conversions, are of offers in USD.
      epc: "2.5000",
      rpc: "3.7500",
      cpc: "2.5000",
      avg_sale_amount: "80.0000",
      ecpm: null,
      roas: null,
      margin: 0.333333, // of one currency: (15 - 10) / 15
      cvr: 0.4,
    });
    const eur = { ...MIXED, currency: "EUR", metrics: "payout,epc,avg_sale_amount" };
    expect(await totals(world, eur)).toEqual({
      payout: "10.0000",
      epc: "10.0000",
      avg_sale_amount: "90.0000",
    });
    const sorted = await rows(world, { ...MIXED, metrics: "epc", group_by: "offer", sort: "-epc" });
    expect(sorted).toMatchObject([{ offer, epc: "2.5000" }, { epc: null }]);
  });

  test("a row that names a currency has its own money; totals have one currency (#36, REP-041, G236)", async () => {
    const byCurrency = {
      ...MIXED,
      metrics: "payout,revenue,profit,epc,clicks",
      group_by: "currency",
    };
    const answer = await report(world, { ...byCurrency, sort: "currency" });
    expect(rowsOf(answer["data"])).toMatchObject([
      // A click on an offer that pays by conversion has no currency.
      { currency: "", payout: "0.0000", clicks: 1 },
      { currency: "EUR", payout: "10.0000", revenue: "15.0000", profit: "5.0000", epc: null },
      { currency: "USD", payout: "10.0000", revenue: "15.0000", epc: "2.5000", clicks: 4 },
    ]);
    expect(answer["totals"]).toMatchObject({ payout: "10.0000", profit: "5.0000" });
    expect(answer["other_currencies"]).toEqual(["EUR"]);
    const csv = await world.text(getReport, {
      ...byCurrency,
      metrics: "payout",
      sort: "currency",
      format: "csv",
    });
    expect(csv.split("\r\n")).toEqual([
      "Currency,Payout (currency of the row)",
      ",0.0000",
      "EUR,10.0000",
      "USD,10.0000",
      "Totals (USD),10.0000",
      "Note: amounts in EUR are not included in the totals",
      "",
    ]);
    const compared = { ...byCurrency, compare: "previous", sort: "-previous.payout" };
    const before = { ...compared, from: "2025-09-11", to: "2025-09-11" };
    expect(
      (await rows(world, before)).map(({ currency, previous }) => [currency, previous]),
    ).toMatchObject([
      ["EUR", { payout: "10.0000" }],
      ["USD", { payout: "10.0000" }],
      ["", { payout: "0.0000" }],
    ]);
  });

  test("of one currency is divided, and rows are judged one by one", async () => {
    const of = { ...MIXED, metrics: "epc,avg_sale_amount" };
    expect(await totals(world, { ...of, filters: "currency:in:USD" })).toEqual({
      epc: "2.5000",
      avg_sale_amount: "80.0000",
    });
    const byCurrency = await rows(world, { ...of, group_by: "currency", sort: "currency" });
    expect(byCurrency).toMatchObject([
      { currency: "", epc: null, avg_sale_amount: null },
      { currency: "EUR", avg_sale_amount: "90.0000" },
      { currency: "USD", avg_sale_amount: "80.0000" },
    ]);
  });
});

describe("filters by what is shown (#36, G67, G238)", () => {
  const clicksOf = async (filters: string, caller?: Caller): Promise<unknown> =>
    (await totals(world, { ...MONDAY, metrics: "clicks,conversions", filters }, caller))["clicks"];

  test("names and codes of records mean their ids, for those who may see them", async () => {
    for (const name of ["Offer 1", "offer 1", "OFFER1", String(offer)])
      expect([name, await clicksOf(`offer:in:${name}`)]).toEqual([name, 2]);
    expect(await clicksOf("offer:in:Offer 1|Offer 2")).toBe(3);
    expect(await clicksOf("affiliate:in:Affiliate 1")).toBe(3);
    expect(await clicksOf("affiliate:in:Affiliate 1", "partner")).toBe(3);
    expect(await clicksOf("advertiser:in:Advertiser 1")).toBe(3);
    expect(await clicksOf("advertiser:in:Advertiser 2")).toBe(0);
    expect(await clicksOf("manager:in:Manager 1")).toBe(3);
    expect(await clicksOf("smart_link:not_in:SMART")).toBe(3);
    const [own] = world.seed.affiliateIds;
    expect(await clicksOf(`affiliate:in:Partner ${own}`, "advertiser")).toBe(3);
    const sales = { ...MONDAY, metrics: "conversions", filters: "event:in:A sale" };
    expect(await totals(world, sales)).toEqual({ conversions: 1 });
    for (const [filters, caller] of [
      ["advertiser:in:abc", "admin"],
      ["offer:in:Nothing like it", "admin"],
      ["affiliate:in:Affiliate 2", "partner"],
      ["affiliate:in:Affiliate 1", "advertiser"],
    ] as const)
      expect(await refusal(report(world, { ...MONDAY, filters }, caller))).toEqual([
        "invalid_parameter",
        "filters",
      ]);
  });

  test("a system that only clicks know is found by any case, and a misspelt one names the nearest", async () => {
    await world.store({
      clicks: [aClick(world, { ts: at("2025-09-20T08:00:00"), os: "PCLinuxOS" })],
    });
    const day = { from: "2025-09-20", to: "2025-09-20", tz: "UTC", metrics: "clicks" };
    expect(await totals(world, { ...day, filters: "os:in:pclinuxos" })).toEqual({ clicks: 1 });
    expect(await totals(world, { ...day, filters: "os:not_in:PCLinuxOS|iOS" })).toEqual({
      clicks: 0,
    });
    const misspelt = report(world, { ...day, filters: "os:in:Windws" });
    await expect(misspelt).rejects.toThrow('unknown os "Windws", nearest: Windows');
  });
});

describe("dimensions of the clock", () => {
  test("hours of the day and days of the week follow the zone of the report", async () => {
    const query = {
      ...MONDAY,
      metrics: "clicks",
      sort: "hour_of_day",
      filters: "hour_of_day:in:3|22",
    };
    expect(await rows(world, { ...query, group_by: "hour_of_day" })).toEqual([
      { hour_of_day: 3, hour_of_day_label: "03:00", hour_of_day_sub: "", clicks: 2 },
      { hour_of_day: 22, hour_of_day_label: "22:00", hour_of_day_sub: "", clicks: 1 },
    ]);
    const kiritimati = {
      from: "2025-09-01",
      to: "2025-09-02",
      tz: "Pacific/Kiritimati",
      metrics: "clicks",
    };
    const days = await rows(world, { ...kiritimati, group_by: "weekday", sort: "weekday" });
    // 22:00 UTC on Monday is Tuesday noon there.
    expect(days).toMatchObject([
      { weekday: 1, weekday_label: "Monday", clicks: 2 },
      { weekday: 2, weekday_label: "Tuesday", clicks: 1 },
    ]);
    for (const filters of ["weekday:in:0", "weekday:in:8", "hour_of_day:in:24", "hour_of_day:in:x"])
      expect(await refusal(report(world, { ...MONDAY, filters }))).toEqual([
        "invalid_parameter",
        "filters",
      ]);
  });
});

describe("filters name offers and partners by their codes", () => {
  const codes = async (table: "offer" | "affiliate", id: number): Promise<string> => {
    const text = {
      offer: "select code from offer where id = $1",
      affiliate: "select code from affiliate where id = $1",
    };
    const { rows: found } = await world.pool.query<{ code: string }>({
      text: text[table],
      values: [id],
    });
    return found[0]?.code ?? "";
  };
  const clicks = async (filters: string, caller: Caller = "admin"): Promise<unknown> =>
    (await totals(world, { ...MONDAY, metrics: "clicks", filters }, caller))["clicks"];

  test("in reports and in series, in any case and beside ids", async () => {
    const [own, other] = [await codes("offer", offer), await codes("offer", otherOffer)];
    const partner = await codes("affiliate", world.seed.affiliateIds[0]);
    expect(await clicks(`offer:in:${own}`)).toBe(2);
    expect(await clicks(`offer:in:${own.toLowerCase()}|${otherOffer}`)).toBe(3);
    expect(await clicks(`offer:not_in:${other}`)).toBe(2);
    expect(await clicks(`affiliate:in:${partner}`)).toBe(3);
    const series = z.looseObject({ data: z.array(z.looseObject({ clicks: z.int() })) }).parse(
      await world.get(getTimeseries, {
        ...MONDAY,
        metrics: "clicks",
        filters: `offer:in:${own}`,
      }),
    );
    expect(series.data).toMatchObject([{ clicks: 2 }]);
  });

  test("a code that the key may not see is an unknown one (P30)", async () => {
    const partner = await codes("affiliate", world.seed.affiliateIds[0]);
    const foreign = await codes("affiliate", world.seed.affiliateIds[1]);
    const asked = (filters: string, caller: Caller) =>
      refusal(report(world, { ...MONDAY, filters }, caller));
    const refused = ["invalid_parameter", "filters"];
    expect(await clicks(`affiliate:in:${partner}`, "partner")).toBe(3);
    expect(await asked(`affiliate:in:${foreign}`, "partner")).toEqual(refused);
    expect(await asked("affiliate:in:NOSUCH", "partner")).toEqual(refused);
    expect(await asked("offer:in:NOSUCH", "admin")).toEqual(refused);
    // It would reveal to an advertiser which of its partners is which.
    expect(await asked(`affiliate:in:${partner}`, "advertiser")).toEqual(refused);
  });
});

test("a CSV with totals=0 is a table of rows and nothing else", async () => {
  const query = { ...MIXED, format: "csv", group_by: "offer", metrics: "clicks,payout" };
  const whole = (await world.text(getReport, query)).split("\r\n");
  const bare = (await world.text(getReport, { ...query, totals: "0" })).split("\r\n");
  expect(whole.at(-3)).toMatch(/^Totals/);
  expect(whole.at(-2)).toMatch(/^Note/);
  expect(bare).toEqual([...whole.slice(0, -3), ""]);
  const widths = bare.slice(0, -1).map((line) => line.split(",").length);
  expect(new Set(widths).size).toBe(1);
  expect(await refusal(report(world, { ...MIXED, totals: "2" }))).toEqual([
    "invalid_parameter",
    "totals",
  ]);
});

const Listed = z.object({
  data: z.array(
    z.looseObject({
      name: z.string(),
      definition: z.string(),
      operators: z.array(z.string()).default([]),
    }),
  ),
});

describe("definitions (N100)", () => {
  test.each(["admin", "partner", "advertiser"] as const)(
    "%s keys are told of every metric and dimension that their reports have, and of no other",
    async (caller) => {
      const metrics = Listed.parse(await world.get(listMetrics, {}, { caller })).data;
      const dimensions = Listed.parse(await world.get(listDimensions, {}, { caller })).data;
      const byDefault = metrics.filter((one) => one["default"] === true).map(({ name }) => name);
      expect(Object.keys(await totals(world, MONDAY, caller))).toEqual(byDefault);
      for (const { name } of metrics)
        expect(Object.keys(await totals(world, { ...MONDAY, metrics: name }, caller))).toEqual([
          name,
        ]);
      for (const { name, operators } of dimensions) {
        await report(world, { ...MONDAY, group_by: name, metrics: "clicks" }, caller);
        for (const operator of FILTER_OPERATORS.filter((one) => !operators.includes(one))) {
          const filters = `${name}:${operator}${operator.endsWith("empty") ? "" : ":x"}`;
          expect(await refusal(report(world, { ...MONDAY, filters }, caller)), filters).toEqual([
            "invalid_parameter",
            "filters",
          ]);
        }
      }
      for (const { definition } of [...metrics, ...dimensions])
        expect(definition).toMatch(/^[A-Z].*\.$/);
      const isStaff = caller === "admin";
      expect(metrics.every((one) => "hidden_from" in one === isStaff)).toBe(true);
      expect(dimensions.every((one) => "hidden_from" in one === isStaff)).toBe(true);
    },
  );
});

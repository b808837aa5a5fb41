import { describe, expect, test } from "vitest";
import { getReport } from "../../../api/reports/get-report.ts";
import { getTimeseries } from "../../../api/reports/get-timeseries.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick, aConversion } from "./facts.ts";
import { ReportWorld, rowsOf } from "./report-world.ts";
import { report } from "./small-world.ts";

const at = (time: string): number => Date.parse(`${time}Z`);
const world = await forThisFile(ReportWorld.open());
const [offer, other] = world.seed.offerIds;
await world.store({
  clicks: [
    ...[0, 1].map(() => aClick(world, { ts: at("2025-09-01T08:00:00") })),
    aClick(world, {
      ts: at("2025-09-02T08:00:00"),
      click_payout: "0.3000",
      click_revenue: "0.5000",
    }),
  ],
  conversions: [
    // Two at one rate are converted together: 0.00015 each would be 0.0002 + 0.0002.
    ...[0, 1].map(() =>
      aConversion(world, {
        conv_ts: at("2025-09-01T09:00:00"),
        payout: "0.0003",
        revenue: "1.0000",
      }),
    ),
    aConversion(world, {
      conv_ts: at("2025-09-01T10:00:00"),
      offer_id: other,
      payout: "0.0003",
      revenue: "2.0000",
    }),
    aConversion(world, { conv_ts: at("2025-09-02T09:00:00"), payout: "3.0000", revenue: "6.0000" }),
    aConversion(world, {
      conv_ts: at("2025-09-02T09:30:00"),
      currency: "EUR",
      payout: "1.0000",
      revenue: "2.0000",
    }),
    aConversion(world, {
      conv_ts: at("2025-09-02T09:40:00"),
      currency: "KWD",
      payout: "7.0000",
      revenue: "0.0000",
    }),
    aConversion(world, {
      conv_ts: at("2025-09-02T09:50:00"),
      currency: "BHD",
      payout: "0.0000",
      revenue: "7.0000",
    }),
    aConversion(world, { conv_ts: at("2025-09-02T10:00:00"), status: "pending", payout: "9.0000" }),
    // 23:30 UTC on the second is the third in Berlin, but has the rate of the second.
    aConversion(world, {
      conv_ts: at("2025-09-02T23:30:00"),
      payout: "30.0000",
      revenue: "30.0000",
      country: "FR",
    }),
  ],
  rates: [
    { date: "2025-09-01", currency: "USD", rate: "2" },
    { date: "2025-09-02", currency: "USD", rate: "3" },
  ],
});
const EUR = { from: "2025-09-01", to: "2025-09-02", tz: "UTC", currency: "EUR", convert: "1" };
const US = { ...EUR, filters: "country:in:US" };

describe("convert=1 (N98, N99)", () => {
  test("an EUR report of a USD offer shows its money, at the rate of each day of UTC", async () => {
    const answer = await report(world, {
      ...US,
      group_by: "date",
      metrics: "payout,revenue,pending_payout,epc",
    });
    expect(rowsOf(answer["data"])).toMatchObject([
      // 0.0009 / 2 = 0.00045, half away from zero.
      { date: "2025-09-01", payout: "0.0005", revenue: "2.0000", pending_payout: "0.0000" },
      // (3 + 0.3) / 3 + 1 EUR
      {
        date: "2025-09-02",
        payout: "2.1000",
        revenue: "4.1667",
        pending_payout: "3.0000",
        epc: null,
      },
    ]);
    expect(answer["conversion"]).toEqual({ basis: "daily", unconverted: ["BHD", "KWD"] });
    expect(answer["other_currencies"]).toEqual(["BHD", "KWD"]);
  });

  test("a quotient is there again where all money is converted", async () => {
    const day = { ...US, to: "2025-09-01", metrics: "epc,payout,conversions" };
    expect((await report(world, { ...day, convert: "0" }))["totals"]).toMatchObject({
      epc: null,
      payout: "0.0000",
    });
    const answer = await report(world, day);
    // 0.0005 / 2
    expect(answer["totals"]).toEqual({ epc: "0.0003", payout: "0.0005", conversions: 3 });
    expect(answer["conversion"]).toEqual({ basis: "daily", unconverted: [] });
  });

  test("totals follow the rule by themselves, so they may differ from the sum of rows", async () => {
    const day = { ...US, to: "2025-09-01", metrics: "payout", group_by: "offer", sort: "offer" };
    const answer = await report(world, day);
    expect(rowsOf(answer["data"])).toMatchObject([
      { offer, payout: "0.0003" },
      { offer: other, payout: "0.0002" },
    ]);
    expect(answer["totals"]).toEqual({ payout: "0.0005" });
  });

  test("the day of the rate is that of UTC, whatever dates the row", async () => {
    const query = {
      ...EUR,
      from: "2025-09-03",
      to: "2025-09-03",
      tz: "Europe/Berlin",
      filters: "country:in:FR",
    };
    expect((await report(world, { ...query, metrics: "payout" }))["totals"]).toEqual({
      payout: "10.0000",
    });
  });

  test("a rate that is corrected changes the report, one of another day does not", async () => {
    const query = { ...US, to: "2025-09-01", metrics: "revenue" };
    const revenue = async () => (await report(world, query))["totals"];
    const setRate = async (date: string, rate: string) =>
      await world.pool.query({
        text: `insert into fx_rate (date, currency, rate) values ($1, 'USD', $2)
               on conflict (currency, date) do update set rate = excluded.rate`,
        values: [date, rate],
      });
    expect(await revenue()).toEqual({ revenue: "2.0000" });
    await setRate("2025-08-31", "8");
    expect(await revenue()).toEqual({ revenue: "2.0000" });
    await setRate("2025-09-01", "4");
    expect(await revenue()).toEqual({ revenue: "1.0000" });
    await setRate("2025-09-01", "2");
  });

  test("works in series, in CSV and beside another period", async () => {
    const series = await world.get(getTimeseries, { ...US, metrics: "revenue", totals: "1" });
    expect(series["data"]).toEqual([
      { bucket: "2025-09-01", revenue: "2.0000" },
      { bucket: "2025-09-02", revenue: "4.1667" },
    ]);
    expect(series["totals"]).toEqual({ revenue: "6.1667" });
    expect(series["conversion"]).toEqual({ basis: "daily", unconverted: ["BHD", "KWD"] });
    const csv = await world.text(getReport, { ...US, metrics: "revenue", format: "csv" });
    expect(csv.split("\r\n").slice(0, 3)).toEqual([
      "Report,Revenue (EUR)",
      "All,6.1667",
      "Totals,6.1667",
    ]);
    expect(csv).toContain("Note: amounts in BHD, KWD are not included");
    const day = { ...US, from: "2025-09-02", metrics: "revenue", compare: "previous" };
    expect((await report(world, day))["totals"]).toEqual({
      revenue: "4.1667",
      previous: { revenue: "2.0000" },
      change: { revenue: 1.08335 },
    });
  });

  test.each([
    ["partner", ["KWD"]],
    ["advertiser", ["BHD"]],
  ] as const)("a %s is not told of currencies of hidden money", async (caller, unconverted) => {
    const answer = await report(world, { ...US, metrics: "clicks" }, caller);
    expect(answer["conversion"]).toEqual({ basis: "daily", unconverted });
    expect(answer["other_currencies"]).toEqual(unconverted);
  });
});

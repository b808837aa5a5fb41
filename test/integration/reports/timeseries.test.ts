import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getReport } from "../../../api/reports/get-report.ts";
import { getTimeseries } from "../../../api/reports/get-timeseries.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { aClick, aConversion } from "./facts.ts";
import { makeLedger } from "./ledger.ts";
import { type Caller, ReportWorld, rowsOf } from "./report-world.ts";
import { refusal } from "./small-world.ts";

/** 50 reports take 6 s, and 20 s on a busy machine. */
const MANY_REPORTS_MS = 120_000;
const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2025, 2, 27);
const TO_MS = Date.UTC(2025, 3, 9);
/** A week without other rows. */
const QUIET = { from: "2025-01-06", to: "2025-01-12", tz: "Europe/Berlin" };

const world = await forThisFile(ReportWorld.open());
const [, second] = world.seed.offerIds;
await world.store({
  clicks: [
    aClick(world, { ts: Date.parse("2025-01-06T23:30:00Z") }),
    aClick(world, { ts: Date.parse("2025-01-08T12:00:00Z"), offer_id: second, country: "DE" }),
  ],
  conversions: [aConversion(world, { conv_ts: Date.parse("2025-01-08T12:00:00Z") })],
});
const random = randomOf(SEED);
const newClickId = (atMs: number): string => world.mint.mint(atMs, 0);
await world.store(
  makeLedger({ ...world.seed, random, fromMs: FROM_MS, toMs: TO_MS, size: 600, newClickId }),
);

type Bucket = Record<string, unknown> & { readonly bucket: string };

async function series(query: Record<string, string>, caller: Caller = "admin") {
  const answer = await world.get(getTimeseries, query, { caller });
  return {
    ...answer,
    data: rowsOf(answer["data"]).map((row): Bucket => ({ ...row, bucket: String(row["bucket"]) })),
  };
}

test("one row per day, zero without traffic, null at a zero denominator (TS-001, TS-003, TS-004, T32)", async () => {
  const { data, ...rest } = await series({ ...QUIET, metrics: "clicks,payout,cvr" });
  expect(rest).toEqual({
    interval: "day",
    metrics: ["clicks", "payout", "cvr"],
    range: {
      from: "2025-01-05T23:00:00.000Z",
      to: "2025-01-12T22:59:59.999Z",
      tz: "Europe/Berlin",
    },
  });
  expect(data).toEqual([
    { bucket: "2025-01-06", clicks: 0, payout: "0.0000", cvr: null },
    { bucket: "2025-01-07", clicks: 1, payout: "0.0000", cvr: 0 },
    { bucket: "2025-01-08", clicks: 1, payout: "10.0000", cvr: 1 },
    ...["2025-01-09", "2025-01-10", "2025-01-11", "2025-01-12"].map((bucket) => ({
      bucket,
      clicks: 0,
      payout: "0.0000",
      cvr: null,
    })),
  ]);
});

test("the default range is thirty days, or today by hour (TS-005, TS-006)", async () => {
  world.nowMs = Date.parse("2025-01-20T10:00:00Z");
  const days = await series({ metrics: "clicks", tz: "UTC" });
  expect(days.data).toHaveLength(30);
  expect([days.data[0]?.bucket, days.data.at(-1)?.bucket]).toEqual(["2024-12-22", "2025-01-20"]);
  const hours = await series({ metrics: "clicks", tz: "Asia/Kolkata", interval: "hour" });
  expect(hours.data).toHaveLength(24);
  expect(hours.data[0]?.bucket, "hours of the zone begin at half past in UTC").toBe(
    "2025-01-19T18:30:00.000Z",
  );
  world.nowMs = undefined;
});

test("wrong intervals, metrics and too long hourly ranges are refused (TS-002, TS-007, TS-008)", async () => {
  expect(await refusal(series({ interval: "minute" }))).toEqual(["invalid_parameter", "interval"]);
  expect(await refusal(series({ interval: "hour", from: "2025-03-01", to: "2025-03-31" }))).toBe(
    "accepted",
  );
  expect(await refusal(series({ interval: "hour", from: "2025-03-01", to: "2025-04-01" }))).toEqual(
    ["invalid_parameter", "from"],
  );
  expect(await refusal(series({ metrics: "foo" }))).toEqual(["invalid_parameter", "metrics"]);
  expect(await refusal(series({ metrics: "revenue" }, "partner"))).toEqual([
    "invalid_parameter",
    "metrics",
  ]);
  expect(await refusal(series({ filters: "advertiser:in:1" }, "partner"))).toEqual([
    "invalid_parameter",
    "filters",
  ]);
});

describe("narrowing", () => {
  const sum = async (query: Record<string, string>, caller: Caller = "admin"): Promise<number> => {
    const { data } = await series({ ...QUIET, metrics: "clicks", ...query }, caller);
    return data.reduce((all, row) => all + Number(row["clicks"]), 0);
  };

  test("filters, offer_id and affiliate_id select, by id or code (TS-009, TS-010)", async () => {
    expect(await sum({})).toBe(2);
    expect(await sum({ filters: "country:in:DE" })).toBe(1);
    expect(await sum({ offer_id: String(world.seed.offerIds[0]) })).toBe(1);
    expect(await sum({ offer_id: "offer2" })).toBe(1);
    expect(await sum({ affiliate_id: "PARTN1" })).toBe(2);
    expect(await sum({ affiliate_id: String(world.seed.affiliateIds[1]) })).toBe(0);
    expect(await refusal(series({ offer_id: "NOSUCH" }))).toEqual([
      "invalid_parameter",
      "offer_id",
    ]);
    expect(await refusal(series({ affiliate_id: "a b" }))).toEqual([
      "invalid_parameter",
      "affiliate_id",
    ]);
  });

  test("a code that the key may not see is an unknown code (P30, G49)", async () => {
    await world.pool.query({
      text: "update offer set visibility = 'private' where code = 'OFFER3'",
    });
    for (const [caller, param, hidden, shown] of [
      ["partner", "affiliate_id", "PARTN2", "partn1"],
      ["partner", "offer_id", "OFFER3", "offer2"],
      ["advertiser", "offer_id", "OFFER2", "offer3"],
    ] as const) {
      const messages = [hidden, "NOSUCH"].map(async (code) => {
        const refused: unknown = await series({ [param]: code }, caller).catch(String);
        return refused;
      });
      expect(await Promise.all(messages)).toEqual(
        [1, 2].map(() => `ApiError: ${param}: names no record`),
      );
      expect(await refusal(series({ [param]: shown }, caller))).toBe("accepted");
    }
  });

  test("advertisers see their offers only, and select partners by id only (TS-011)", async () => {
    expect(await sum({}, "partner")).toBe(2);
    expect(await sum({ affiliate_id: String(world.seed.affiliateIds[0]) }, "advertiser")).toBe(2);
    expect(await refusal(series({ affiliate_id: "PARTN1" }, "advertiser"))).toEqual([
      "invalid_parameter",
      "affiliate_id",
    ]);
  });
});

test("hours and days are complete and in order when clocks change (T71)", async () => {
  const hours = async (date: string, tz: string): Promise<number[]> => {
    const { data } = await series({
      from: date,
      to: date,
      tz,
      interval: "hour",
      metrics: "clicks",
    });
    return data.map(({ bucket }) => Date.parse(bucket));
  };
  const spring = await hours("2025-03-30", "Europe/Berlin");
  expect(spring).toHaveLength(23);
  const autumn = await hours("2025-10-26", "Europe/Berlin");
  expect(autumn).toHaveLength(25);
  for (const starts of [spring, autumn]) {
    expect(
      starts.every((start, index) => index === 0 || start - (starts[index - 1] ?? 0) === HOUR_MS),
    ).toBe(true);
  }
  const { data } = await series({
    from: "2025-03-29",
    to: "2025-03-31",
    tz: "Europe/Berlin",
    metrics: "clicks",
  });
  expect(data.map(({ bucket }) => bucket)).toEqual(["2025-03-29", "2025-03-30", "2025-03-31"]);
});

test(
  "buckets add up to the totals of the report, in any zone and range (TS-012, P13)",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          "UTC",
          "Europe/Berlin",
          "Asia/Kathmandu",
          "Australia/Lord_Howe",
          "Pacific/Chatham",
        ),
        fc.constantFrom("day", "hour"),
        fc.integer({ min: FROM_MS, max: FROM_MS + 5 * 86_400_000 }),
        fc.integer({ min: FROM_MS + 5 * 86_400_000, max: TO_MS }),
        async (tz, interval, fromMs, toMs) => {
          const range = {
            from: new Date(fromMs).toISOString(),
            to: new Date(toMs).toISOString(),
            tz,
          };
          const names = ["clicks", "impressions", "conversions", "rejected_conversions"];
          const metrics = names.join(",");
          const { data } = await series({ ...range, interval, metrics });
          const { totals } = await world.get(getReport, { ...range, metrics });
          const sums = names.map((name) => [
            name,
            data.reduce((all, row) => all + Number(row[name]), 0),
          ]);
          expect(Object.fromEntries(sums)).toEqual(totals);
          expect(data.map(({ bucket }) => bucket)).toEqual(
            [...new Set(data.map(({ bucket }) => bucket))].toSorted(),
          );
        },
      ),
      { numRuns: 25, seed: SEED },
    );
  },
  MANY_REPORTS_MS,
);

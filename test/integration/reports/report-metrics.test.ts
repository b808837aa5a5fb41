import { describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick, aConversion, anImpression } from "./facts.ts";
import type { LedgerClick, LedgerConversion } from "./ledger.ts";
import { ReportWorld, type Row } from "./report-world.ts";
import { refusal, report, totals } from "./small-world.ts";

/*
 * Each metric from a handful of rows on a separate day. All expected numbers are computed by hand from the contract; the
 * comment next to a number is the calculation.
 */

const world = await forThisFile(ReportWorld.open());
let days = 0;

type Traffic = {
  readonly clicks?: readonly Partial<LedgerClick>[];
  readonly impressions?: number;
  readonly conversions?: readonly Partial<LedgerConversion>[];
};

/** Inserts rows at noon of a day that no other test uses; returns the range of a report on it. */
async function aDayWith({ clicks = [], impressions = 0, conversions = [] }: Traffic): Promise<{
  from: string;
  to: string;
}> {
  days += 1;
  const date = `2025-09-${String(days).padStart(2, "0")}`;
  const noon = Date.parse(`${date}T12:00:00Z`);
  await world.store({
    clicks: clicks.map((fields) => aClick(world, { ts: noon, is_unique: false, ...fields })),
    impressions: Array.from({ length: impressions }, () => anImpression(world, { ts: noon })),
    conversions: conversions.map((fields) => aConversion(world, { conv_ts: noon, ...fields })),
  });
  return { from: date, to: date };
}

async function metricsOf(traffic: Traffic, metrics: string): Promise<Row> {
  return await totals(world, { ...(await aDayWith(traffic)), metrics });
}

const CLICK = {};
const UNIQUE = { is_unique: true };
const APPROVED = { status: "approved" };
const PENDING = { status: "pending" };
const REJECTED = { status: "rejected" };
/** A conversion without money. */
const UNPAID = { payout: "0.0000", revenue: "0.0000" };

describe("traffic", () => {
  test("unique_clicks counts unique clicks, redirected or not, but no blocked ones (REP-022)", async () => {
    const clicks = [
      UNIQUE,
      CLICK,
      CLICK,
      { ...UNIQUE, status: "fallback", status_reason: "paused" },
      { ...CLICK, is_bot: true },
      { ...UNIQUE, status: "blocked", status_reason: "traffic_control" },
    ];
    expect(await metricsOf({ clicks }, "clicks,unique_clicks")).toEqual({
      clicks: 5, // all but the blocked one
      unique_clicks: 2,
    });
  });

  test("bot_clicks counts clicks of bots, which are also clicks, and is for staff (REP-023)", async () => {
    const clicks = [
      UNIQUE,
      { is_bot: true },
      { is_bot: true, status: "fallback", status_reason: "targeting" },
      { is_bot: true, status: "blocked", status_reason: "traffic_control" },
    ];
    const day = await aDayWith({ clicks });
    const query = { ...day, metrics: "clicks,bot_clicks" };
    for (const staff of ["admin", "analyst"] as const)
      expect(await totals(world, query, staff)).toEqual({ clicks: 3, bot_clicks: 2 });
    for (const caller of ["partner", "advertiser"] as const)
      expect(await refusal(report(world, query, caller))).toEqual(["invalid_parameter", "metrics"]);
  });

  test("impressions counts the impressions of the range, and no click (REP-024)", async () => {
    await aDayWith({ impressions: 1 });
    const found = await metricsOf({ impressions: 3, clicks: [UNIQUE] }, "impressions,clicks");
    await aDayWith({ impressions: 1 });
    expect(found).toEqual({ impressions: 3, clicks: 1 });
  });

  test.each([
    { clicks: 3, impressions: 8, ctr: 0.375 },
    { clicks: 2, impressions: 3, ctr: 0.666667 },
    { clicks: 5, impressions: 2, ctr: 2.5 },
    { clicks: 0, impressions: 2, ctr: 0 },
    { clicks: 2, impressions: 0, ctr: null },
  ])("$clicks clicks of $impressions impressions are a ctr of $ctr (REP-025)", async (of) => {
    const clicks = Array.from({ length: of.clicks }, () => CLICK);
    expect(await metricsOf({ clicks, impressions: of.impressions }, "ctr")).toEqual({
      ctr: of.ctr,
    });
  });
});

describe("conversions", () => {
  test("conversions counts approved ones; others count pending and rejected ones (REP-026, REP-027)", async () => {
    const repeat = { ...REJECTED, is_duplicate: true };
    const conversions = [APPROVED, PENDING, PENDING, REJECTED, repeat, repeat];
    expect(
      await metricsOf({ conversions }, "conversions,pending_conversions,rejected_conversions"),
    ).toEqual({ conversions: 1, pending_conversions: 2, rejected_conversions: 3 });
  });

  test.each([
    // 2 / 3, where the 6 clicks would make it 0.333333
    { unique: 3, repeated: 3, approved: 2, cvr: 0.666667 },
    { unique: 4, repeated: 0, approved: 0, cvr: 0 },
    // Several conversions of a visitor.
    { unique: 2, repeated: 0, approved: 3, cvr: 1.5 },
    { unique: 0, repeated: 2, approved: 1, cvr: null },
  ])(
    "$approved approved by $unique unique clicks and $repeated more are a cvr of $cvr (REP-028)",
    async ({ unique, repeated, approved, cvr }) => {
      const clicks = [
        ...Array.from({ length: unique }, () => UNIQUE),
        ...Array.from({ length: repeated }, () => CLICK),
      ];
      const conversions = [...Array.from({ length: approved }, () => APPROVED), PENDING, REJECTED];
      expect(await metricsOf({ clicks, conversions }, "cvr")).toEqual({ cvr });
    },
  );
});

describe("money", () => {
  test("pending and rejected conversions have no money in reports, in any currency (REP-030)", async () => {
    const day = await aDayWith({
      conversions: [
        { ...APPROVED, payout: "1.0001", revenue: "2.0002", sale_amount: "3.0003" },
        { ...PENDING, payout: "100.0000", revenue: "200.0000", sale_amount: "300.0000" },
        { ...REJECTED, payout: "10.0000", revenue: "20.0000", sale_amount: "30.0000" },
        { ...PENDING, currency: "EUR" },
        { ...REJECTED, currency: "GBP" },
      ],
    });
    const query = { ...day, metrics: "revenue,payout,profit,sale_amount" };
    expect(await report(world, query)).toMatchObject({
      totals: { revenue: "2.0002", payout: "1.0001", profit: "1.0001", sale_amount: "3.0003" },
      other_currencies: [],
    });
  });

  test.each([
    { revenue: "15.5000", payout: "10.2501", profit: "5.2499", margin: 0.338703 },
    // 5.0001 / 15.0001 = 0.33333777…, rounded away from zero
    { revenue: "15.0001", payout: "20.0002", profit: "-5.0001", margin: -0.333338 },
    { revenue: "3.0000", payout: "3.0000", profit: "0.0000", margin: 0 },
    { revenue: "7.0000", payout: "0.0000", profit: "7.0000", margin: 1 },
    { revenue: "0.0000", payout: "4.0000", profit: "-4.0000", margin: null },
    { revenue: "0.0000", payout: "0.0000", profit: "0.0000", margin: null },
  ])(
    "$revenue less $payout is a profit of $profit and a margin of $margin (REP-031, REP-032)",
    async ({ revenue, payout, profit, margin }) => {
      const conversions = [{ ...APPROVED, revenue, payout }];
      expect(await metricsOf({ conversions }, "profit,margin")).toEqual({ profit, margin });
    },
  );

  test("profit and margin are computed from the sums, including paid clicks (REP-031, REP-032)", async () => {
    expect(
      await metricsOf(
        {
          clicks: [{ ...UNIQUE, click_payout: "0.1000", click_revenue: "0.3000" }],
          conversions: [
            { ...APPROVED, revenue: "2.0000", payout: "1.0000" },
            { ...APPROVED, revenue: "10.0000", payout: "9.0000" },
          ],
        },
        "revenue,payout,profit,margin",
      ),
    ).toEqual({
      revenue: "12.3000", // 0.3 + 2 + 10
      payout: "10.1000", // 0.1 + 1 + 9
      profit: "2.2000",
      margin: 0.178862, // 2.2 / 12.3
    });
  });

  test.each([
    // 20 / 3 = 6.66666…, 25 / 3 = 8.33333…
    { clicks: 3, revenue: "25.0000", payout: "20.0000", epc: "6.6667", rpc: "8.3333" },
    // 0.0001 / 2 is half of the smallest part, rounded away from zero
    { clicks: 2, revenue: "0.0003", payout: "0.0001", epc: "0.0001", rpc: "0.0002" },
    { clicks: 4, revenue: "0.0000", payout: "0.0000", epc: "0.0000", rpc: "0.0000" },
    { clicks: 0, revenue: "25.0000", payout: "20.0000", epc: null, rpc: null },
  ])(
    "$payout and $revenue over $clicks clicks are an epc of $epc and an rpc of $rpc (REP-033, REP-034)",
    async ({ clicks, revenue, payout, epc, rpc }) => {
      const day = await aDayWith({
        clicks: Array.from({ length: clicks }, () => CLICK),
        conversions: [
          { ...APPROVED, revenue, payout },
          { ...PENDING, revenue: "900.0000", payout: "900.0000" },
        ],
      });
      const of = async (metrics: string, caller: "analyst" | "partner" | "advertiser") =>
        await totals(world, { ...day, metrics }, caller);
      expect(await of("epc,rpc,cpc", "analyst")).toEqual({ epc, rpc, cpc: epc });
      expect(await of("epc", "partner")).toEqual({ epc });
      // An epc of the payout would reveal the payout, which an advertiser may not see.
      expect(await of("epc", "advertiser")).toEqual({ epc: rpc });
      for (const caller of ["partner", "advertiser"] as const) {
        for (const metric of ["rpc", "cpc"])
          expect(await refusal(of(metric, caller))).toEqual(["invalid_parameter", "metrics"]);
      }
    },
  );

  test("payments for clicks are in epc, rpc and cpc (REP-033, REP-034)", async () => {
    const paid = { ...UNIQUE, click_payout: "0.1000", click_revenue: "0.3000" };
    expect(
      await metricsOf(
        { clicks: [paid, paid, CLICK, CLICK], conversions: [{ ...APPROVED, ...UNPAID }] },
        "epc,rpc,cpc",
      ),
    ).toEqual({
      epc: "0.0500", // 0.2 / 4
      rpc: "0.1500", // 0.6 / 4
      cpc: "0.0500",
    });
  });
});

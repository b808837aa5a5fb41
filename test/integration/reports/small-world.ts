import { ApiError } from "../../../api/operation/errors.ts";
import { getReport } from "../../../api/reports/get-report.ts";
import { words } from "../../samples/words.ts";
import { aClick, aConversion, anImpression } from "./facts.ts";
import { type Caller, ReportWorld, type Row, rowsOf } from "./report-world.ts";

/** The day of nearly all rows of {@link openSmallWorld}. */
export const DAY = { from: "2025-02-03", to: "2025-02-03", tz: "UTC" };
export const STAFF_METRICS = words("bot_clicks profit margin rpc cpc ad_cost roas net_profit");

/** A world with a handful of rows, few enough to be counted by eye. */
export async function openSmallWorld(): Promise<ReportWorld> {
  const world = await ReportWorld.open();
  const [, offer2, , offer4] = world.seed.offerIds;
  const [, advertiser2] = world.seed.advertiserIds;
  const [, affiliate2] = world.seed.affiliateIds;
  const second = { offer_id: offer2, advertiser_id: advertiser2 };
  await world.store({
    clicks: [
      aClick(world),
      aClick(world, { is_unique: false }),
      aClick(world, { is_unique: false, is_bot: true, country: "DE" }),
      aClick(world, { status: "blocked", is_unique: false }),
      aClick(world, { status: "fallback", status_reason: "paused" }),
      aClick(world, {
        ...second,
        affiliate_id: affiliate2,
        click_payout: "0.1000",
        click_revenue: "0.3000",
      }),
      aClick(world, {
        ...second,
        affiliate_id: affiliate2,
        click_payout: "0.1000",
        click_revenue: "0.3000",
      }),
      aClick(world, { ...second, affiliate_id: affiliate2, is_unique: false }),
      aClick(world, { ts: Date.parse("2025-02-02T23:30:00Z"), country: "FR" }),
    ],
    impressions: [anImpression(world), anImpression(world), anImpression(world)],
    conversions: [
      aConversion(world, { sale_amount: "100.0001" }),
      aConversion(world, { status: "pending" }),
      aConversion(world, { status: "rejected" }),
      aConversion(world, { is_private: true, event_code: "deposit", payout: "1.0000" }),
      aConversion(world, { offer_id: offer4, advertiser_id: advertiser2, currency: "EUR" }),
      aConversion(world, {
        conv_ts: Date.parse("2025-02-04T01:00:00Z"),
        click_ts: Date.parse("2025-02-03T10:00:00Z"),
      }),
    ],
  });
  return world;
}

/** Code and parameter of a refusal. */
export async function refusal(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.details?.param];
    throw error;
  }
  return "accepted";
}

type Query = Readonly<Record<string, string>>;

export async function report(
  world: ReportWorld,
  query: Query = {},
  caller: Caller = "admin",
): Promise<Row> {
  return await world.get(getReport, { ...DAY, ...query }, { caller });
}

export async function rows(
  world: ReportWorld,
  query: Query,
  caller: Caller = "admin",
): Promise<Row[]> {
  return rowsOf((await report(world, query, caller))["data"]);
}

export async function totals(
  world: ReportWorld,
  query: Query = {},
  caller: Caller = "admin",
): Promise<Row> {
  const [found = {}] = rowsOf([(await report(world, query, caller))["totals"]]);
  return found;
}

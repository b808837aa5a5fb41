import type { Role, Sums } from "./recount-sums.ts";
import { rounded } from "./recounted-costs.ts";

type Value = { text: bigint | null; kind: "count" | "money" | "ratio" };

/** The value of a metric as a whole number in its scale, so that values can be compared. */
export function metricValue(name: string, sums: Sums, role: Role): Value {
  const value = VALUES[name];
  if (value === undefined) throw new Error(`no metric ${name}`);
  return value(sums, role);
}

const count = (text: bigint): Value => ({ text, kind: "count" });
const money = (text: bigint | null): Value => ({ text, kind: "money" });
/** Money per unit of offers in its currency: null where a part of the money could not be converted. */
const each = (sums: Sums, of: bigint, by: bigint): Value =>
  money(sums.hasForeignMoney ? null : rounded(of, by));
const ratio = (of: bigint, by: bigint): Value => ({
  text: rounded(of * 1_000_000n, by),
  kind: "ratio",
});
const profitOf = (sums: Sums): bigint => sums.revenue - sums.payout;
const earned = (sums: Sums, role: Role): bigint =>
  role === "advertiser" ? sums.revenue : sums.payout;

const VALUES: Readonly<Record<string, (sums: Sums, role: Role) => Value>> = {
  impressions: (sums) => count(sums.impressions),
  clicks: (sums) => count(sums.clicks),
  unique_clicks: (sums) => count(sums.unique),
  bot_clicks: (sums) => count(sums.bots),
  ctr: (sums) => ratio(sums.clicks, sums.impressions),
  conversions: (sums) => count(sums.approved),
  pending_conversions: (sums) => count(sums.pending),
  rejected_conversions: (sums) => count(sums.rejected),
  cvr: (sums) => ratio(sums.approved, sums.unique),
  revenue: (sums) => money(sums.revenue),
  payout: (sums) => money(sums.payout),
  profit: (sums) => money(profitOf(sums)),
  net_profit: (sums) => money(profitOf(sums) - sums.cost),
  margin: (sums) => ratio(profitOf(sums), sums.revenue),
  epc: (sums, role) => each(sums, earned(sums, role), sums.home.clicks),
  rpc: (sums) => each(sums, sums.revenue, sums.home.clicks),
  cpc: (sums) => each(sums, sums.payout, sums.home.clicks),
  avg_sale_amount: (sums) => each(sums, sums.sale, sums.home.approved),
  sale_amount: (sums) => money(sums.sale),
  ad_cost: (sums) => money(sums.cost),
  gross_conversions: (sums) =>
    count(sums.approved + sums.pending + sums.rejected - sums.duplicates),
  duplicates: (sums) => count(sums.duplicates),
  approval_rate: (sums) => ratio(sums.approved, sums.approved + sums.rejected),
  pending_payout: (sums) => money(sums.pendingPayout),
  pending_revenue: (sums) => money(sums.pendingRevenue),
  rejected_payout: (sums) => money(sums.rejectedPayout),
  rejected_revenue: (sums) => money(sums.rejectedRevenue),
  ecpm: (sums, role) => each(sums, 1000n * earned(sums, role), sums.home.impressions),
  roas: (sums) => ratio(sums.revenue, sums.cost),
};

/** How far a value changed in millionths, null where it was zero or undefined. */
export function changeOf(now: bigint | null, before: bigint | null): bigint | null {
  if (now === null || before === null) return null;
  return rounded((now - before) * 1_000_000n, before < 0n ? -before : before);
}

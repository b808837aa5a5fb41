import type { Role, Sums } from "./recount-sums.ts";
import { rounded } from "./recounted-costs.ts";

/** The value of a metric as a whole number in its scale, so that values can be compared. */
export function metricValue(
  name: string,
  sums: Sums,
  role: Role,
): { text: bigint | null; kind: "count" | "money" | "ratio" } {
  const profit = sums.revenue - sums.payout;
  const count = (text: bigint) => ({ text, kind: "count" as const });
  const money = (text: bigint | null) => ({ text, kind: "money" as const });
  /** Money per unit: null where a part of the money was left out. */
  const each = (of: bigint, by: bigint) => money(sums.hasForeignMoney ? null : rounded(of, by));
  const ratio = (of: bigint, by: bigint) => ({
    text: rounded(of * 1_000_000n, by),
    kind: "ratio" as const,
  });
  switch (name) {
    case "impressions":
      return count(sums.impressions);
    case "clicks":
      return count(sums.clicks);
    case "unique_clicks":
      return count(sums.unique);
    case "bot_clicks":
      return count(sums.bots);
    case "ctr":
      return ratio(sums.clicks, sums.impressions);
    case "conversions":
      return count(sums.approved);
    case "pending_conversions":
      return count(sums.pending);
    case "rejected_conversions":
      return count(sums.rejected);
    case "cvr":
      return ratio(sums.approved, sums.unique);
    case "revenue":
      return money(sums.revenue);
    case "payout":
      return money(sums.payout);
    case "profit":
      return money(profit);
    case "net_profit":
      return money(profit - sums.cost);
    case "margin":
      return ratio(profit, sums.revenue);
    case "epc":
      return each(role === "advertiser" ? sums.revenue : sums.payout, sums.clicks);
    case "rpc":
      return each(sums.revenue, sums.clicks);
    case "cpc":
      return each(sums.payout, sums.clicks);
    case "avg_sale_amount":
      return each(sums.sale, sums.approved);
    case "sale_amount":
      return money(sums.sale);
    case "ad_cost":
      return money(sums.cost);
    case "gross_conversions":
      return count(sums.approved + sums.pending + sums.rejected - sums.duplicates);
    case "duplicates":
      return count(sums.duplicates);
    case "approval_rate":
      return ratio(sums.approved, sums.approved + sums.rejected);
    case "pending_payout":
      return money(sums.pendingPayout);
    case "pending_revenue":
      return money(sums.pendingRevenue);
    case "rejected_payout":
      return money(sums.rejectedPayout);
    case "rejected_revenue":
      return money(sums.rejectedRevenue);
    case "ecpm":
      return each(1000n * (role === "advertiser" ? sums.revenue : sums.payout), sums.impressions);
    case "roas":
      return ratio(sums.revenue, sums.cost);
    default:
      throw new Error(`no metric ${name}`);
  }
}

/** How far a value changed in millionths, null where it was zero or undefined. */
export function changeOf(now: bigint | null, before: bigint | null): bigint | null {
  if (now === null || before === null) return null;
  return rounded((now - before) * 1_000_000n, before < 0n ? -before : before);
}

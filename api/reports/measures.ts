import { formatAmount } from "../../schemas/money/amount.ts";
import type { ReportRole } from "./report-scope.ts";

/** Sums that each source computes and that the outer statement adds up: counts, and money in the report currency. */
export const SUMS = [
  "clicks",
  "unique_clicks",
  "bot_clicks",
  "impressions",
  "approved",
  "pending",
  "rejected",
  "payout",
  "revenue",
  "sale_amount",
  "ad_cost",
] as const;
export type Sum = (typeof SUMS)[number];

/** A metric as the statement returns it: a whole number as text in the metric's own scale, null if the denominator is zero. */
export type StoredMetric = string | null;

export type Measure = {
  readonly name: string;
  readonly label: string;
  /** `count` is whole · `money` in ten-thousandths · `ratio` in millionths, rounded half away from zero (G72). */
  readonly kind: "count" | "money" | "ratio";
  /** True if the metric is a quotient, which is null for a zero denominator. */
  readonly isQuotient: boolean;
  /** SQL expression over the columns of {@link SUMS}. They and the result are integers. */
  readonly sql: string;
};

type Definition = Omit<Measure, "sql"> & {
  readonly hiddenFrom: readonly ReportRole[];
  readonly sql: string | ((role: ReportRole) => string);
};

const STAFF_ONLY = ["partner", "advertiser"] as const;
const RATIO_SCALE = 1_000_000;
const PROFIT = "(revenue - payout)";

const ALL: readonly Definition[] = [
  count("impressions", "Impressions", "impressions"),
  count("clicks", "Clicks", "clicks"),
  count("unique_clicks", "Unique clicks", "unique_clicks"),
  { ...count("bot_clicks", "Bot clicks", "bot_clicks"), hiddenFrom: STAFF_ONLY },
  ratio("ctr", "CTR", { of: "clicks", by: "impressions" }),
  count("conversions", "Conversions", "approved"),
  count("pending_conversions", "Pending conversions", "pending"),
  count("rejected_conversions", "Rejected conversions", "rejected"),
  ratio("cvr", "CVR", { of: "approved", by: "unique_clicks" }),
  { ...money("revenue", "Revenue", "revenue"), hiddenFrom: ["partner"] },
  { ...money("payout", "Payout", "payout"), hiddenFrom: ["advertiser"] },
  { ...money("profit", "Profit", PROFIT), hiddenFrom: STAFF_ONLY },
  { ...ratio("margin", "Margin", { of: PROFIT, by: "revenue" }), hiddenFrom: STAFF_ONLY },
  // Computed from the payout, the EPC would reveal the hidden payout to an advertiser (G70).
  {
    ...perUnit("epc", "EPC", { of: "payout", by: "clicks" }),
    sql: (role) => quotient(role === "advertiser" ? "revenue" : "payout", "clicks", 1),
  },
  { ...perUnit("rpc", "RPC", { of: "revenue", by: "clicks" }), hiddenFrom: STAFF_ONLY },
  { ...perUnit("cpc", "CPC", { of: "payout", by: "clicks" }), hiddenFrom: STAFF_ONLY },
  perUnit("avg_sale_amount", "Average sale amount", { of: "sale_amount", by: "approved" }),
  money("sale_amount", "Sale amount", "sale_amount"),
  { ...money("ad_cost", "Ad cost", "ad_cost"), hiddenFrom: STAFF_ONLY },
  { ...ratio("roas", "ROAS", { of: "revenue", by: "ad_cost" }), hiddenFrom: STAFF_ONLY },
  { ...money("net_profit", "Net profit", `(${PROFIT} - ad_cost)`), hiddenFrom: STAFF_ONLY },
];

/** Undefined for a name that does not exist and for one that this role cannot see: both get the same refusal (REP-055). */
export function findMeasure(name: string, role: ReportRole): Measure | undefined {
  const found = ALL.find((one) => one.name === name && !one.hiddenFrom.includes(role));
  if (found === undefined) return undefined;
  const { hiddenFrom: _, sql, ...rest } = found;
  return { ...rest, sql: typeof sql === "string" ? sql : sql(role) };
}

/** All metrics that a role may see, in documented order: the default of `metrics` (G68). */
export function measuresOf(role: ReportRole): Measure[] {
  return ALL.flatMap(({ name }) => findMeasure(name, role) ?? []);
}

/** The value in the answer: a count or a fraction is a number, money a string with four decimals (ENV-005, ENV-009). */
export function measureValue(kind: Measure["kind"], stored: StoredMetric): number | string | null {
  if (stored === null) return null;
  if (kind === "money") return formatAmount(BigInt(stored));
  return kind === "count" ? Number(stored) : Number(stored) / RATIO_SCALE;
}

/** The value of a bucket without rows: zero, or null for a quotient (G80). */
export function emptyValue(measure: Measure): number | string | null {
  return measureValue(measure.kind, measure.isQuotient ? null : "0");
}

function count(name: string, label: string, sql: string): Definition {
  return { name, label, kind: "count", isQuotient: false, hiddenFrom: [], sql };
}

function money(name: string, label: string, sql: string): Definition {
  return { name, label, kind: "money", isQuotient: false, hiddenFrom: [], sql };
}

type Quotient = { readonly of: string; readonly by: string };

/** Money per unit. */
function perUnit(name: string, label: string, { of, by }: Quotient): Definition {
  return { ...money(name, label, quotient(of, by, 1)), isQuotient: true };
}

function ratio(name: string, label: string, { of, by }: Quotient): Definition {
  const sql = quotient(of, by, RATIO_SCALE);
  return { name, label, kind: "ratio", isQuotient: true, hiddenFrom: [], sql };
}

/** `of * scale / by` in whole numbers, rounded half away from zero; null when `by` is 0. */
function quotient(of: string, by: string, scale: number): string {
  const magnitude = `intDivOrZero(abs(${of}) * ${2 * scale} + abs(${by}), abs(${by}) * 2)`;
  return `if(${by} = 0, null, ${magnitude} * sign(${of}) * sign(${by}))`;
}

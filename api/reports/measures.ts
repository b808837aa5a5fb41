import { formatAmount } from "../../schemas/money/amount.ts";
import {
  DEFINITIONS,
  type Definition,
  FOREIGN_MONEY,
  type Fraction,
  HOME_SUMS,
  type Measure,
  PREVIOUS,
  quotient,
  RATIO_SCALE,
  sqlOf,
  WHOLE,
} from "./measure-definitions.ts";
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
  "duplicates",
  "payout",
  "revenue",
  "sale_amount",
  "ad_cost",
  "pending_payout",
  "pending_revenue",
  "rejected_payout",
  "rejected_revenue",
] as const;
export type Sum = (typeof SUMS)[number];

/** Every name in the SQL of a metric that means a sum. */
const SUM_NAMES = new RegExp(`\\b(${[...SUMS, ...HOME_SUMS, FOREIGN_MONEY].join("|")})\\b`, "g");

/** The same names, also for the period that a report is compared with. */
const NAMES_OF_BOTH = new RegExp(
  `\\b(?:${PREVIOUS})?(${[...SUMS, ...HOME_SUMS, FOREIGN_MONEY].join("|")})\\b`,
  "g",
);

/** The sums that the SQL of metrics names, of either period. */
export function sumNamesIn(sqls: readonly string[]): ReadonlySet<string> {
  return new Set(
    sqls.flatMap((sql) => [...sql.matchAll(NAMES_OF_BOTH)].map(([, name = ""]) => name)),
  );
}

/** SQL of a metric, in the period that the report is compared with. */
export function previousOf(sql: string): string {
  return sql.replaceAll(SUM_NAMES, `${PREVIOUS}$1`);
}

/** SQL of how far a metric changed, in millionths of its size before: null where it was 0 or undefined (N102). */
export function changeOf(sql: string): string {
  return `${changes(`[${sql}]`, `[${previousOf(sql)}]`)}[1]`;
}

/** SQL of the changes of a list of values. A lambda, so that each value is in the text once. */
export function changes(now: string, before: string): string {
  const change = quotient("(now - before)", "abs(before)", String(2 * RATIO_SCALE));
  return `arrayMap((now, before) -> ${change}, ${now}, ${before})`;
}

/** SQL of a list with the values of metrics. The server plans one expression for all of them, because each one would take it a millisecond. */
export function valuesOf(measures: readonly Measure[]): string {
  const fractions = measures.map(({ fraction }) => fraction);
  const list = (part: (fraction: Fraction) => string | number): string =>
    `[${fractions.map(part).join(", ")}]`;
  const parts = list(({ of }) => of);
  if (fractions.every(({ by }) => by === WHOLE)) return parts;
  const lists = [
    parts,
    list(({ by }) => by),
    list(({ scale }) => 2 * scale),
    list(({ isSeparate }) => (isSeparate ? `${FOREIGN_MONEY} != 0` : 0)),
  ];
  const value = `if(is_left_out, null, ${quotient("part", "whole", "factor")})`;
  return `arrayMap((part, whole, factor, is_left_out) -> ${value}, ${lists.join(", ")})`;
}

/** Whether the SQL of a metric counts only what belongs to offers in the currency of the report. */
export function isPerUnit(sql: string): boolean {
  return HOME_SUMS.some((name) => sql.includes(name));
}

/** A metric as the statement returns it: a whole number as text in the metric's own scale, null if the denominator is zero. */
export type StoredMetric = string | null;

export type { Measure };

/** Undefined for a name that does not exist and for one that this role cannot see: both get the same refusal (REP-055). */
export function findMeasure(name: string, role: ReportRole): Measure | undefined {
  const found = DEFINITIONS.find((one) => one.name === name && !one.hiddenFrom.includes(role));
  if (found === undefined) return undefined;
  const { label, kind, isQuotient } = found;
  const fraction = typeof found.fraction === "function" ? found.fraction(role) : found.fraction;
  return { name, label, kind, isQuotient, fraction, sql: sqlOf(fraction) };
}

/** The default of `metrics` for a role, in documented order (G68). */
export function measuresOf(role: ReportRole): Measure[] {
  return DEFINITIONS.flatMap(({ name, isDefault }) =>
    isDefault ? (findMeasure(name, role) ?? []) : [],
  );
}

/** Names of all metrics that a role may see, also if a metric is answered only when it is named. */
export function measureNames(role: ReportRole): string[] {
  return meaningsOf(role).map(({ name }) => name);
}

/** What the metrics of a role mean, in documented order. */
export function meaningsOf(
  role: ReportRole,
): readonly Omit<Definition, "fraction" | "isQuotient" | "formulaFor">[] {
  const known = DEFINITIONS.filter(({ hiddenFrom }) => !hiddenFrom.includes(role));
  // Staff read what the metric is for everybody.
  return known.map(({ formulaFor, ...one }) =>
    formulaFor === undefined || role === "staff" ? one : { ...one, formula: formulaFor(role) },
  );
}

/** The value in the answer: a count or a fraction is a number, money a string with four decimals (ENV-005, ENV-009). */
export function measureValue(kind: Measure["kind"], stored: StoredMetric): number | string | null {
  if (stored === null) return null;
  if (kind === "money") return formatAmount(BigInt(stored));
  return kind === "count" ? Number(stored) : Number(stored) / RATIO_SCALE;
}

/** A change in the answer: 0.25 for a quarter more. */
export function changeValue(stored: StoredMetric): number | null {
  return stored === null ? null : Number(stored) / RATIO_SCALE;
}

/** The value of a bucket without rows: zero, or null for a quotient (G80). */
export function emptyValue(measure: Measure): number | string | null {
  return measureValue(measure.kind, measure.isQuotient ? null : "0");
}

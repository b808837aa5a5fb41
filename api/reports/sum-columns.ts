import { FOREIGN_MONEY } from "./measure-definitions.ts";
import { SUMS, type Sum } from "./measures.ts";
import type { ReportRole } from "./report-scope.ts";

/** Sums that count only amounts in the currency of the report (REP, rule 1). */
const MONEY: readonly Sum[] = [
  "payout",
  "revenue",
  "sale_amount",
  "ad_cost",
  "pending_payout",
  "pending_revenue",
  "rejected_payout",
  "rejected_revenue",
];
/** Money whose currencies are named in `others`. That of undecided and rejected conversions is none yet. */
const EARNED: readonly Sum[] = ["payout", "revenue", "sale_amount"];

/** The columns of one source: each sum, 0 if the source has none of it. */
export function sourceSums(sums: Partial<Record<Sum, string>>): string[] {
  return SUMS.map((name) => {
    const type = MONEY.includes(name) ? "toInt128" : "toInt64";
    return `${type}(${sums[name] ?? 0}) as s_${name}`;
  });
}

/** The sums over all sources, and how many rows have money in other currencies. `currency` is SQL for that of the report. */
export function outerSums(role: ReportRole, currency: string): string[] {
  return [
    ...SUMS.map((name) =>
      MONEY.includes(name)
        ? `sumIf(s_${name}, cur = ${currency}) as ${name}`
        : `sum(s_${name}) as ${name}`,
    ),
    `countIf(${isOther(currency)} and (${hasAny(seen(EARNED, role))})) as ${FOREIGN_MONEY}`,
  ];
}

/** The column `others`: the other currencies with money that the role may see. */
export function otherCurrencies(role: ReportRole, currency: string): string {
  const hasMoney = hasAny(seen([...EARNED, "ad_cost"], role));
  // Most groups have none, and an empty list costs less than an empty set.
  return `arraySort(arrayDistinct(groupArrayIf(cur, ${isOther(currency)} and (${hasMoney})))) as others`;
}

function isOther(currency: string): string {
  return `cur not in ('', ${currency})`;
}

function seen(sums: readonly Sum[], role: ReportRole): readonly Sum[] {
  const hidden = role === "partner" ? "revenue" : role === "advertiser" ? "payout" : "";
  return sums.filter((name) => name !== hidden);
}

function hasAny(sums: readonly Sum[]): string {
  return sums.map((name) => `s_${name} != 0`).join(" or ");
}

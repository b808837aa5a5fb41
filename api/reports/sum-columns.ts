import { parseDay } from "../../schemas/time/calendar.ts";
import type { DayRates } from "./day-rates.ts";
import { FOREIGN_MONEY, PREVIOUS } from "./measure-definitions.ts";
import { SUMS, type Sum } from "./measures.ts";
import type { ReportPlan } from "./report-plan.ts";
import type { ReportRole } from "./report-scope.ts";
import type { SqlParams } from "./sql-params.ts";

/** Amounts of money: those in the currency of the report, or converted into it (REP, rule 1, N98). */
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

/** The columns of the sums in a source. */
export const SUM_COLUMNS: readonly string[] = SUMS.map((name) => `s_${name}`);
/** The column that tells the rows of the period that a report is compared with. */
export const IS_PREVIOUS = "is_previous";

/** The columns of one source: each sum, 0 if the source has none of it. */
export function sourceSums(sums: Partial<Record<Sum, string>>): string[] {
  return SUMS.map((name) => {
    const type = MONEY.includes(name) ? "toInt128" : "toInt64";
    return `${type}(${sums[name] ?? 0}) as s_${name}`;
  });
}

/** The sums of a statement over all of its sources. */
export class OuterSums {
  readonly #role: ReportRole;
  readonly #currency: string;
  readonly #compares: boolean;
  readonly #rates: readonly string[];

  constructor(plan: ReportPlan, params: SqlParams) {
    this.#role = plan.scope.role;
    this.#currency = params.of("String", plan.currency);
    this.#compares = plan.comparison !== undefined;
    this.#rates =
      plan.moneyRates === undefined ? [] : rateDefinitions(plan.moneyRates, plan.currency, params);
  }

  /** The sums, and how many rows have money that was left out; with a comparison also those of the other period. */
  definitions(): string[] {
    if (!this.#compares) return [...this.#rates, ...this.#period("", [])];
    return [
      ...this.#rates,
      ...this.#period("", [`not ${IS_PREVIOUS}`]),
      ...this.#period(PREVIOUS, [IS_PREVIOUS]),
    ];
  }

  /** The column `others`: the other currencies with money that the role may see, in both periods. */
  others(): string {
    const hasMoney = hasAny(seen([...EARNED, "ad_cost"], this.#role));
    // Most groups have none, and an empty list costs less than an empty set.
    return `arraySort(arrayDistinct(groupArrayIf(cur, ${this.#isOther()} and (${hasMoney})))) as others`;
  }

  #period(prefix: string, only: readonly string[]): string[] {
    const counted = (sum: string, conditions: readonly string[]): string =>
      conditions.length === 0 ? `sum(${sum})` : `sumIf(${sum}, ${conditions.join(" and ")})`;
    const converts = this.#rates.length > 0;
    const map = `${prefix}converted`;
    const columns = SUMS.map((name) => {
      if (!MONEY.includes(name)) return `${counted(`s_${name}`, only)} as ${prefix}${name}`;
      if (converts) return `${converted(map, MONEY.indexOf(name))} as ${prefix}${name}`;
      return `${counted(`s_${name}`, [`cur = ${this.#currency}`, ...only])} as ${prefix}${name}`;
    });
    const isForeign = [this.#isOther(), `(${hasAny(seen(EARNED, this.#role))})`, ...only];
    return [
      ...(converts ? [`${subtotals(["rate != 0", ...only])} as ${map}`] : []),
      ...columns,
      `countIf(${isForeign.join(" and ")}) as ${prefix}${FOREIGN_MONEY}`,
    ];
  }

  #isOther(): string {
    return this.#rates.length > 0
      ? "(cur != '' and rate = 0)"
      : `cur not in ('', ${this.#currency})`;
  }
}

/**
 * `rate` is the index of a row's rate in `numerators` and `denominators`, 0 without a usable one. The first is 1, for the currency of the
 * report itself, whose money has no day.
 */
function rateDefinitions(
  { currencies, dates, numerators, denominators }: DayRates,
  currency: string,
  params: SqlParams,
): string[] {
  const names = [
    `${currency}:0`,
    ...currencies.map((one, index) => `${one}:${parseDay(dates[index] ?? "") ?? ""}`),
  ];
  const list = (values: readonly string[]): string =>
    `arrayMap(text -> toInt256(text), ${params.of("Array(String)", ["1", ...values])})`;
  const indexes = params.of(
    "Array(UInt32)",
    names.map((_, index) => index + 1),
  );
  return [
    `${list(numerators)} as numerators`,
    `${list(denominators)} as denominators`,
    `transform(concat(cur, ':', toString(day)), ${params.of("Array(String)", names)}, ${indexes}, toUInt32(0)) as rate`,
  ];
}

/** The subtotal of each rate, for all sums of money at once: indexes of rates, and then a list of subtotals for each sum. */
function subtotals(conditions: readonly string[]): string {
  const sums = MONEY.map((name) => `[s_${name}]`).join(", ");
  return `sumMapIf([rate], ${sums}, ${conditions.join(" and ")})`;
}

/** The sum of subtotals, each multiplied by its rate and rounded once, half away from zero. The same rule for rows and totals. */
function converted(map: string, index: number): string {
  const rounded =
    "intDivOrZero(abs(amount) * numerators[one] * 2 + denominators[one], denominators[one] * 2) * sign(amount)";
  return `toInt128(arraySum(arrayMap((one, amount) -> ${rounded}, ${map}.1, ${map}.${index + 2})))`;
}

function seen(sums: readonly Sum[], role: ReportRole): readonly Sum[] {
  const hidden = role === "partner" ? "revenue" : role === "advertiser" ? "payout" : "";
  return sums.filter((name) => name !== hidden);
}

function hasAny(sums: readonly Sum[]): string {
  return sums.map((name) => `s_${name} != 0`).join(" or ");
}

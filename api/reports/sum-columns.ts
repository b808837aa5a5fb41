import { FOREIGN_MONEY, HOME_SUMS, PREVIOUS } from "./measure-definitions.ts";
import { SUMS, type Sum, sumNamesIn } from "./measures.ts";
import { DIMENSION_COLUMN, type ReportPlan } from "./report-plan.ts";
import type { ReportRole } from "./report-scope.ts";
import type { SqlParams } from "./sql-params.ts";

/** Amounts of money in the currency of the report, or converted into it (REP, rule 1, N98). */
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
/** Money whose currencies are named in `others`. Undecided and rejected conversions have no such money yet. */
const EARNED: readonly Sum[] = ["payout", "revenue", "sale_amount"];
const WITH_CURRENCY: readonly Sum[] = [...EARNED, "ad_cost"];

/** The column that tells the rows of the period that a report is compared with. */
export const IS_PREVIOUS = "is_previous";

/** Whether the offer of rows without money has the currency of the report. */
export const HOME = "home";

/** The sums that a statement has columns of. Each one costs the server time to plan in every select, also if there is nothing to add up. */
export type UsedSums = {
  /** What the metrics and the order are computed from. */
  readonly outer: readonly Sum[];
  readonly home: readonly (typeof HOME_SUMS)[number][];
  readonly hasForeign: boolean;
  /** What the sources add up for `outer` and `home`, and to know in which currencies the caller has money. */
  readonly ofSources: readonly Sum[];
};

export function usedSums({ metrics, sort, scope }: ReportPlan): UsedSums {
  const sorted = sort.by === "metric" ? [sort.sql] : [];
  const named = sumNamesIn([...metrics.map(({ sql }) => sql), ...sorted]);
  const home = HOME_SUMS.filter((name) => named.has(name));
  const money = seen(WITH_CURRENCY, scope.role);
  return {
    outer: SUMS.filter((name) => named.has(name)),
    home,
    hasForeign: named.has(FOREIGN_MONEY),
    ofSources: SUMS.filter(
      (name) =>
        named.has(name) || money.includes(name) || home.some((one) => countedBy(one) === name),
    ),
  };
}

/** The sum that a count of home is a part of. */
function countedBy(home: (typeof HOME_SUMS)[number]): string {
  return home.slice(HOME.length + 1);
}

/** The columns of one source: each sum, 0 if the source lacks it. */
export function sourceSums(sums: Partial<Record<Sum, string>>, names: readonly Sum[]): string[] {
  return names.map((name) => {
    const type = MONEY.includes(name) ? "toInt128" : "toInt64";
    return `${type}(${sums[name] ?? 0}) as s_${name}`;
  });
}

/** The columns that money is summed by. */
export function moneyKeys({ moneyRates, homeOffers }: ReportPlan): readonly string[] {
  return [
    "cur",
    ...(moneyRates === undefined ? [] : ["day"]),
    ...(homeOffers === undefined ? [] : [HOME]),
  ];
}

/** What is added up of clicks. */
export const CLICK_SUMS: Partial<Record<Sum, string>> = {
  clicks: "count()",
  unique_clicks: "countIf(is_unique)",
  bot_clicks: "countIf(is_bot)",
  payout: "sum(click_payout) * 10000",
  revenue: "sum(click_revenue) * 10000",
};

/** What is added up of conversions. */
export const CONVERSION_SUMS: Partial<Record<Sum, string>> = {
  approved: "countIf(status = 'approved')",
  pending: "countIf(status = 'pending')",
  rejected: "countIf(status = 'rejected')",
  duplicates: "countIf(is_duplicate)",
  pending_payout: "sumIf(payout, status = 'pending') * 10000",
  pending_revenue: "sumIf(revenue, status = 'pending') * 10000",
  rejected_payout: "sumIf(payout, status = 'rejected') * 10000",
  rejected_revenue: "sumIf(revenue, status = 'rejected') * 10000",
  payout: "sumIf(payout, status = 'approved') * 10000",
  revenue: "sumIf(revenue, status = 'approved') * 10000",
  sale_amount: "sumIf(sale_amount, status = 'approved') * 10000",
};

/** The rate of a row: its number, numerator and denominator in one number, so that rows can be added up by it. 0 without one. */
export const RATE = "rate";
const RATE_BITS = 96n;
const RATE_PART = `toUInt256('${(1n << RATE_BITS) - 1n}')`;

/** The number keeps two days apart that have the same rate: each day's money is rounded by itself. */
export function packedRate(number: number, numerator: string, denominator: string): string {
  return String(
    (((BigInt(number) << RATE_BITS) + BigInt(numerator)) << RATE_BITS) + BigInt(denominator),
  );
}

/** The sums of a statement over all of its sources. */
export class OuterSums {
  readonly #role: ReportRole;
  readonly #currency: string;
  readonly #converts: boolean;
  readonly #hasHome: boolean;
  readonly #used: UsedSums;
  /** The amounts of money among the used sums. */
  readonly #money: readonly Sum[];
  /** The column with the currency that a row names; undefined if none does. */
  readonly #named: string | undefined;
  /** A period's prefix, and the conditions of its rows. */
  readonly #periods: readonly { readonly prefix: string; readonly only: readonly string[] }[];

  constructor(plan: ReportPlan, params: SqlParams) {
    const { scope, groupBy, currency, comparison, moneyRates, homeOffers } = plan;
    const index = groupBy.findIndex(({ name }) => name === "currency");
    this.#named = index < 0 ? undefined : `${DIMENSION_COLUMN}${index}`;
    this.#hasHome = homeOffers !== undefined;
    this.#used = usedSums(plan);
    this.#money = this.#used.outer.filter((name) => MONEY.includes(name));
    this.#role = scope.role;
    this.#currency = params.of("String", currency);
    this.#converts = moneyRates !== undefined;
    this.#periods =
      comparison === undefined
        ? [{ prefix: "", only: [] }]
        : [
            { prefix: "", only: [`not ${IS_PREVIOUS}`] },
            { prefix: PREVIOUS, only: [IS_PREVIOUS] },
          ];
  }

  /**
   * The columns that are added up: sums, how many rows have money that was left out, and `others`, the other currencies with money that the
   * role may see.
   */
  added(): string[] {
    const hasMoney = hasAny(seen(WITH_CURRENCY, this.#role));
    return [
      ...this.#periods.flatMap(({ prefix, only }) => this.#sums(prefix, only)),
      // Most groups have none, and an empty list costs less than an empty set.
      `arraySort(arrayDistinct(groupArrayIf(cur, ${this.#isOther()} and (${hasMoney})))) as others`,
    ];
  }

  /** The same columns with converted money; empty if there is nothing to convert. */
  converted(): string[] {
    if (!this.#converts || this.#money.length === 0) return [];
    const { outer, home, hasForeign } = this.#used;
    const columns = this.#periods.flatMap(({ prefix }) => [
      ...outer.map((name) =>
        MONEY.includes(name)
          ? `${converted(`${prefix}subtotals`, this.#money.indexOf(name))} as ${prefix}${name}`
          : `${prefix}${name}`,
      ),
      ...home.map((name) => `${prefix}${name}`),
      ...(hasForeign ? [`${prefix}${FOREIGN_MONEY}`] : []),
    ]);
    return [...columns, "others"];
  }

  #sums(prefix: string, only: readonly string[]): string[] {
    const { outer, hasForeign } = this.#used;
    const sums = outer.flatMap((name) => {
      if (!MONEY.includes(name)) return [`${added(`s_${name}`, only)} as ${prefix}${name}`];
      if (this.#converts) return [];
      const inCurrency = [`cur = ${this.#currency}`, ...only];
      return [`${this.#ofRow(`s_${name}`, inCurrency, only)} as ${prefix}${name}`];
    });
    const home = this.#used.home.map((name) => {
      const sum = `s_${countedBy(name)}`;
      const conditions = this.#converts ? only : [this.#isHome(), ...only];
      return `${this.#ofRow(sum, conditions, only)} as ${prefix}${name}`;
    });
    const isForeign = [this.#isOther(), `(${hasAny(seen(EARNED, this.#role))})`, ...only];
    const foreign = this.#converts ? `countIf(${isForeign.join(" and ")})` : "toUInt64(0)";
    const rated = subtotals(this.#money, [`${RATE} != 0`, ...only]);
    return [
      ...sums,
      ...home,
      ...(this.converted().length === 0 ? [] : [`${rated} as ${prefix}subtotals`]),
      ...(hasForeign ? [`${foreign} as ${prefix}${FOREIGN_MONEY}`] : []),
    ];
  }

  /**
   * A sum over the rows with `conditions`. A row that names a currency has its own money, so there `only` counts (G236). Totals, and rows
   * without money, name no currency.
   */
  #ofRow(sum: string, conditions: readonly string[], only: readonly string[]): string {
    const ofReport = added(sum, conditions);
    return this.#named === undefined || this.#converts
      ? ofReport
      : `if(${this.#named} = '', ${ofReport}, ${added(sum, only)})`;
  }

  /** Rows with money have its currency, other rows their offer's. */
  #isHome(): string {
    const sameCurrency = `cur = ${this.#currency}`;
    return this.#hasHome
      ? `(${sameCurrency} or cur = '' and ${HOME} = 1)`
      : `cur in ('', ${this.#currency})`;
  }

  #isOther(): string {
    return this.#converts ? `cur != '' and ${RATE} = 0` : `cur not in ('', ${this.#currency})`;
  }
}

function added(sum: string, conditions: readonly string[]): string {
  return conditions.length === 0 ? `sum(${sum})` : `sumIf(${sum}, ${conditions.join(" and ")})`;
}

/** The subtotal of each rate, for several sums of money at once: rates, and then a list of subtotals for each sum. */
function subtotals(money: readonly Sum[], conditions: readonly string[]): string {
  const sums = money.map((name) => `[s_${name}]`).join(", ");
  return `sumMapIf([${RATE}], ${sums}, ${conditions.join(" and ")})`;
}

/** The sum of subtotals, each multiplied by its rate and rounded once, half away from zero. The same rule for rows and totals. */
function converted(map: string, index: number): string {
  const numerator = `bitAnd(bitShiftRight(one, ${RATE_BITS}), ${RATE_PART})`;
  const denominator = `bitAnd(one, ${RATE_PART})`;
  const rounded = `intDivOrZero(abs(amount) * ${numerator} * 2 + ${denominator}, ${denominator} * 2) * sign(amount)`;
  return `toInt128(arraySum(arrayMap((one, amount) -> ${rounded}, ${map}.1, ${map}.${index + 2})))`;
}

function seen(sums: readonly Sum[], role: ReportRole): readonly Sum[] {
  const hidden = role === "partner" ? "revenue" : role === "advertiser" ? "payout" : "";
  return sums.filter((name) => name !== hidden);
}

function hasAny(sums: readonly Sum[]): string {
  return sums.map((name) => `s_${name} != 0`).join(" or ");
}

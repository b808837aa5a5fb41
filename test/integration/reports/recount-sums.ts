import type {
  LedgerClick,
  LedgerConversion,
  LedgerCost,
  LedgerImpression,
  LedgerRate,
} from "./ledger.ts";
import { convertedAt, convertedCost, rounded, units } from "./recounted-costs.ts";

/* What facts add up to: counts, and money by its currency and day of UTC, which is converted and added up at the end. */

export type Role = "staff" | "partner" | "advertiser";

export type Fact =
  | { kind: "click"; row: LedgerClick }
  | { kind: "impression"; row: LedgerImpression }
  | { kind: "conversion"; row: LedgerConversion }
  | { kind: "cost"; row: LedgerCost };

const COUNTS = [
  "clicks",
  "unique",
  "bots",
  "impressions",
  "approved",
  "pending",
  "rejected",
  "duplicates",
] as const;
const EARNED = ["payout", "revenue", "sale"] as const;
const MONEY = [
  ...EARNED,
  "pendingPayout",
  "pendingRevenue",
  "rejectedPayout",
  "rejectedRevenue",
] as const;
type Money = Record<(typeof MONEY)[number], bigint>;
type Counts = Record<(typeof COUNTS)[number], bigint>;

/** What money per unit is divided by. */
const UNITS = ["clicks", "impressions", "approved"] as const;
type Units = Record<(typeof UNITS)[number], bigint>;

/** The facts of one group. Money by `<currency> <day>`, units by their currency, or by their offer if they have none. */
export type Gathered = {
  readonly units: Map<string, Units>;
  readonly counts: Counts;
  readonly money: Map<string, Money>;
  readonly costs: LedgerCost[];
};

/** Sums in the currency of the report, or of the row that names one. `others` are the currencies whose money was left out. */
export type Sums = Counts &
  Money & {
    readonly cost: bigint;
    /** Units of offers in the currency of the report. */
    readonly home: Units;
    readonly others: ReadonlySet<string>;
    readonly hasForeignMoney: boolean;
  };

export type SumRules = {
  readonly role: Role;
  readonly currency: string;
  readonly converts: boolean;
  readonly rates: readonly LedgerRate[];
  readonly offerCurrencies: ReadonlyMap<number, string>;
};

export function nothing(): Gathered {
  return { counts: zeros(COUNTS), units: new Map(), money: new Map(), costs: [] };
}

export function gather({ counts, units: by, money, costs }: Gathered, { kind, row }: Fact): void {
  if (kind === "cost") costs.push(row);
  if (kind === "impression") {
    counts.impressions += 1n;
    unitsOf(by, `offer ${row.offer_id}`).impressions += 1n;
  }
  if (kind === "click") {
    counts.clicks += 1n;
    unitsOf(by, row.currency === "" ? `offer ${row.offer_id}` : row.currency).clicks += 1n;
    if (row.is_unique) counts.unique += 1n;
    if (row.is_bot) counts.bots += 1n;
    const of = moneyOf(money, row.currency, row.ts);
    of.payout += units(row.click_payout);
    of.revenue += units(row.click_revenue);
  }
  if (kind !== "conversion") return;
  if (row.is_duplicate) counts.duplicates += 1n;
  const of = moneyOf(money, row.currency, row.conv_ts);
  const [payout, revenue] = [units(row.payout), units(row.revenue)];
  if (row.status === "approved") {
    counts.approved += 1n;
    unitsOf(by, row.currency).approved += 1n;
    of.payout += payout;
    of.revenue += revenue;
    of.sale += units(row.sale_amount);
  } else if (row.status === "pending") {
    counts.pending += 1n;
    of.pendingPayout += payout;
    of.pendingRevenue += revenue;
  } else {
    counts.rejected += 1n;
    of.rejectedPayout += payout;
    of.rejectedRevenue += revenue;
  }
}

export function sumUp({ counts, units: by, money, costs }: Gathered, rules: SumRules): Sums {
  const sums = { ...zeros(MONEY), cost: 0n };
  const others = new Set<string>();
  let hasForeignMoney = false;
  for (const [key, of] of money) {
    const [currency = "", date = ""] = key.split(" ");
    const rate = rateOf(currency, date, rules);
    if (rate !== undefined) {
      for (const name of MONEY) sums[name] += rounded(of[name] * rate.of, rate.by) ?? 0n;
    } else if (
      currency !== "" &&
      EARNED.some((name) => isSeen(name, rules.role) && of[name] > 0n)
    ) {
      others.add(currency);
      hasForeignMoney = rules.converts;
    }
  }
  for (const cost of costs) {
    const converted = convertedCost(cost, rules);
    if (converted !== undefined) sums.cost += converted;
    else if (units(cost.amount) > 0n) others.add(cost.currency);
  }
  return { ...counts, ...sums, others, hasForeignMoney, home: homeOf(by, rules) };
}

/** A conversion needs no exclusion: it brings the money of all offers into one currency. */
function homeOf(by: Gathered["units"], { converts, currency, offerCurrencies }: SumRules): Units {
  const home = zeros(UNITS);
  for (const [key, of] of by) {
    const [, offer] = /^offer (.*)$/.exec(key) ?? [];
    const own = offer === undefined ? key : (offerCurrencies.get(Number(offer)) ?? currency);
    if (!converts && own !== currency) continue;
    for (const name of UNITS) home[name] += of[name];
  }
  return home;
}

function unitsOf(by: Gathered["units"], key: string): Units {
  const found = by.get(key) ?? zeros(UNITS);
  by.set(key, found);
  return found;
}

function rateOf(
  currency: string,
  date: string,
  { currency: to, converts, rates }: SumRules,
): { of: bigint; by: bigint } | undefined {
  if (currency === to) return { of: 1n, by: 1n };
  return converts && currency !== ""
    ? convertedAt(currency, date, { currency: to, rates })
    : undefined;
}

function isSeen(name: (typeof EARNED)[number], role: Role): boolean {
  return (
    !(name === "payout" && role === "advertiser") && !(name === "revenue" && role === "partner")
  );
}

function moneyOf(money: Gathered["money"], currency: string, atMs: number): Money {
  const key = `${currency} ${new Date(atMs).toISOString().slice(0, 10)}`;
  const found = money.get(key) ?? zeros(MONEY);
  money.set(key, found);
  return found;
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, bigint> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name has its zero
  return Object.fromEntries(names.map((name) => [name, 0n])) as Record<Name, bigint>;
}

import { z } from "zod";
import { formatAmount } from "../../schemas/money/amount.ts";
import type { Expectation } from "./expectation.ts";
import {
  type ClickRow,
  type ConversionRow,
  MoneyByCurrency,
  readClicks,
  readConversions,
  unansweredKeys,
} from "./ledger.ts";
import { expectedMoney } from "./plan.ts";
import type { VisitRecord } from "./send.ts";
import { pause, type ServiceClient } from "./service.ts";

export type Comparison = {
  readonly clicksStored: number;
  readonly clicksAnswered: number;
  readonly conversionsStored: number;
  readonly repeatsStored: number;
  /** One sentence each; empty when ledger and service agree. */
  readonly differences: string[];
};

export type CompareOptions = {
  readonly client: ServiceClient;
  readonly run: string;
  /** ISO time before the first request of the run. */
  readonly from: string;
  readonly records: readonly VisitRecord[];
  readonly expect: (ip: string, userAgent: string) => Expectation;
  /** How long the service may take to show everything. */
  readonly patienceMs: number;
};

const ReportAnswer = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  totals: z.record(z.string(), z.unknown()),
});
const LISTED_MAX = 10;

/** Holds the ledger of a replay against the service, again and again until they agree or patience ends. */
export async function compareWithService(options: CompareOptions): Promise<Comparison> {
  const deadlineMs = performance.now() + options.patienceMs;
  for (;;) {
    const comparison = await compareOnce(options);
    if (comparison.differences.length === 0 || performance.now() > deadlineMs) return comparison;
    await pause(1_000);
  }
}

async function compareOnce(options: CompareOptions): Promise<Comparison> {
  const clicks = await readClicks(options.client, options.run, options.from);
  const conversions = await readConversions(options.client, options.run, options.from);
  const differences = [
    ...clickDifferences(options, clicks),
    ...conversionDifferences(options, conversions),
    ...(await reportDifferences(options, clicks)),
  ];
  return {
    clicksStored: clicks.length,
    clicksAnswered: options.records.length,
    conversionsStored: conversions.filter((row) => !row.is_duplicate).length,
    repeatsStored: conversions.filter((row) => row.is_duplicate).length,
    differences,
  };
}

function clickDifferences(options: CompareOptions, clicks: readonly ClickRow[]): string[] {
  const unanswered = unansweredKeys(options.records);
  const byId = groupBy(clicks, (row) => row.click_id);
  const answered = new Set(options.records.map((record) => record.clickId));
  const repeated = [...countBy(clicks, (row) => `${row.sub2} ${row.sub3}`)].filter(
    ([, count]) => count > 1,
  );
  const strange = clicks.filter(
    (row) => !answered.has(row.click_id) && !unanswered.has(`${row.sub2} ${row.sub3}`),
  );
  return [
    ...options.records.flatMap((record) =>
      answeredClickDifferences(record, byId.get(record.clickId) ?? [], options.expect),
    ),
    ...repeated.map(
      ([attempt, count]) => `attempt ${attempt} (line, attempt) is stored ${count} times`,
    ),
    ...strange.map(
      (row) => `click ${row.click_id} (line ${row.sub2}, attempt ${row.sub3}) has no such answer`,
    ),
  ];
}

function answeredClickDifferences(
  record: VisitRecord,
  rows: readonly ClickRow[],
  expect: CompareOptions["expect"],
): string[] {
  const { line, offer, affiliate } = record.visit;
  const [row] = rows;
  if (row === undefined || rows.length !== 1) {
    return [`line ${line.number}: click ${record.clickId} is stored ${rows.length} times`];
  }
  const expected = expect(line.ip, line.userAgent);
  return unequal(`line ${line.number}`, [
    ["offer_id", row.offer_id, offer.id],
    ["affiliate_id", row.affiliate_id, affiliate.id],
    ["country", row.country, expected.country],
    ["device_type", row.device_type, expected.deviceType],
    ["is_bot", row.is_bot, expected.isBot],
    ["destination", row.destination, record.location],
  ]);
}

function conversionDifferences(
  options: CompareOptions,
  conversions: readonly ConversionRow[],
): string[] {
  const byOrder = groupBy(conversions, (row) => row.adv_txid ?? "");
  return options.records.flatMap((record) => {
    if (record.conversion === undefined) return [];
    const rows = byOrder.get(`${options.run}-${record.visit.line.number}`) ?? [];
    return orderDifferences(record, record.conversion, rows);
  });
}

/** One order: counted once, with the money of the contract, and not repeated oftener than it was sent again. */
function orderDifferences(
  record: VisitRecord,
  answered: NonNullable<VisitRecord["conversion"]>,
  rows: readonly ConversionRow[],
): string[] {
  const where = `line ${record.visit.line.number}`;
  const counted = rows.filter((row) => !row.is_duplicate);
  const [row] = counted;
  if (row === undefined || counted.length !== 1)
    return [`${where}: its conversion counts ${counted.length} times`];
  const expected = expectedMoney(record.visit);
  const repeats = rows.length - 1;
  return [
    ...(repeats > record.unansweredPostbacks
      ? [`${where}: ${repeats} repeats stored, ${record.unansweredPostbacks} sent`]
      : []),
    ...unequal(where, [
      ["conversion", row.id, answered.isRepeat ? row.id : answered.id],
      ["status", row.status, "approved"],
      ["click_id", row.click_id ?? "", record.clickId],
      ["payout", row.payout, formatAmount(expected.payout)],
      ["revenue", row.revenue, formatAmount(expected.revenue)],
    ]),
  ];
}

type Fact = readonly [
  name: string,
  stored: string | number | boolean,
  own: string | number | boolean,
];

/** A sentence for every fact in which the service and the ledger differ. */
function unequal(where: string, facts: readonly Fact[]): string[] {
  return facts
    .filter(([, stored, own]) => stored !== own)
    .map(
      ([name, stored, own]) =>
        `${where}: ${name} is ${String(stored)}, the ledger has ${String(own)}`,
    );
}

/** Reports by country, by device and by bot, and the totals in every currency, against the ledger's own sums. */
async function reportDifferences(
  options: CompareOptions,
  clicks: readonly ClickRow[],
): Promise<string[]> {
  // Attempts without an answer are in the reports when they were recorded: the ledger counts them as stored.
  const differences: string[] = [];
  for (const [dimension, own] of [
    ["country", countBy(clicks, (row) => row.country)],
    ["device_type", countBy(clicks, (row) => row.device_type)],
    ["is_bot", countBy(clicks, (row) => String(row.is_bot))],
  ] as const) {
    const { data } = await report(options, `group_by=${dimension}&metrics=clicks&limit=10000`);
    const shown = new Map(data.map((row) => [textOf(row[dimension]), Number(row["clicks"])]));
    const keys = [...new Set([...own.keys(), ...shown.keys()])];
    differences.push(
      ...unequal(
        `report by ${dimension}`,
        keys.map((key): Fact => [`clicks of "${key}"`, shown.get(key) ?? 0, own.get(key) ?? 0]),
      ),
    );
  }
  return [...differences, ...(await totalDifferences(options, clicks))];
}

async function totalDifferences(
  options: CompareOptions,
  clicks: readonly ClickRow[],
): Promise<string[]> {
  const { payout, revenue, conversions } = ownTotals(options.records, clicks);
  const differences: string[] = [];
  for (const currency of new Set([...payout.currencies, ...revenue.currencies])) {
    const query = `currency=${currency}&metrics=clicks,conversions,payout,revenue`;
    const { totals } = await report(options, query);
    differences.push(
      ...unequal(`report in ${currency}`, [
        ["clicks", Number(totals["clicks"]), clicks.length],
        ["conversions", Number(totals["conversions"]), conversions],
        ["payout", textOf(totals["payout"]), formatAmount(payout.of(currency))],
        ["revenue", textOf(totals["revenue"]), formatAmount(revenue.of(currency))],
      ]),
    );
  }
  return differences;
}

/** What the ledger says was earned: by conversions, and by the unique clicks of offers that pay by the click (G71). */
function ownTotals(
  records: readonly VisitRecord[],
  clicks: readonly ClickRow[],
): { payout: MoneyByCurrency; revenue: MoneyByCurrency; conversions: number } {
  const payout = new MoneyByCurrency();
  const revenue = new MoneyByCurrency();
  const converted = records.filter((record) => record.conversion !== undefined);
  for (const { visit } of converted) {
    const expected = expectedMoney(visit);
    payout.add(visit.offer.currency, expected.payout);
    revenue.add(visit.offer.currency, expected.revenue);
  }
  const offers = new Map(records.map(({ visit }) => [visit.offer.id, visit.offer]));
  for (const row of clicks.filter(
    (one) => one.is_unique && !one.is_bot && one.status === "redirect",
  )) {
    const offer = offers.get(row.offer_id);
    if (offer?.payout_type === "cpc") payout.add(offer.currency, offer.payout);
    if (offer?.revenue_type === "rpc") revenue.add(offer.currency, offer.revenue);
  }
  return { payout, revenue, conversions: converted.length };
}

async function report(
  options: CompareOptions,
  query: string,
): Promise<z.infer<typeof ReportAnswer>> {
  const path = `/reports?from=${encodeURIComponent(options.from)}&filters=sub1:in:${options.run}&${query}`;
  return ReportAnswer.parse(await options.client.rest(path));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

function groupBy<Row>(rows: readonly Row[], key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group === undefined) groups.set(key(row), [row]);
    else group.push(row);
  }
  return groups;
}

function countBy(rows: readonly ClickRow[], key: (row: ClickRow) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1);
  return counts;
}

/** The differences that fit a terminal. */
export function listed(differences: readonly string[]): string[] {
  const more = differences.length - LISTED_MAX;
  return more > 0 ? [...differences.slice(0, LISTED_MAX), `… and ${more} more`] : [...differences];
}

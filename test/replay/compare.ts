import { z } from "zod";
import { type Amount, amountOf, formatAmount } from "../../schemas/money/amount.ts";
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
  const differences: string[] = [];
  const unanswered = unansweredKeys(options.records);
  const byId = new Map<string, ClickRow[]>();
  const byAttempt = new Map<string, number>();
  for (const row of clicks) {
    byId.set(row.click_id, [...(byId.get(row.click_id) ?? []), row]);
    const attempt = `${row.sub2} ${row.sub3}`;
    byAttempt.set(attempt, (byAttempt.get(attempt) ?? 0) + 1);
  }
  for (const record of options.records) {
    const { line, offer, affiliate } = record.visit;
    const rows = byId.get(record.clickId) ?? [];
    const row = rows[0];
    if (row === undefined || rows.length !== 1) {
      differences.push(
        `line ${line.number}: click ${record.clickId} is stored ${rows.length} times`,
      );
      continue;
    }
    const expected = options.expect(line.ip, line.userAgent);
    const facts = [
      ["offer_id", row.offer_id, offer.id],
      ["affiliate_id", row.affiliate_id, affiliate.id],
      ["country", row.country, expected.country],
      ["device_type", row.device_type, expected.deviceType],
      ["is_bot", row.is_bot, expected.isBot],
      ["destination", row.destination, record.location],
    ] as const;
    for (const [name, stored, own] of facts) {
      if (stored !== own)
        differences.push(
          `line ${line.number}: ${name} is ${String(stored)}, expected ${String(own)}`,
        );
    }
  }
  for (const [attempt, count] of byAttempt) {
    if (count > 1) differences.push(`attempt ${attempt} (line, attempt) is stored ${count} times`);
  }
  const answered = new Set(options.records.map((record) => record.clickId));
  for (const row of clicks) {
    if (!answered.has(row.click_id) && !unanswered.has(`${row.sub2} ${row.sub3}`)) {
      differences.push(
        `click ${row.click_id} (line ${row.sub2}, attempt ${row.sub3}) was never sent or was answered otherwise`,
      );
    }
  }
  return differences;
}

function conversionDifferences(
  options: CompareOptions,
  conversions: readonly ConversionRow[],
): string[] {
  const differences: string[] = [];
  const byOrder = new Map<string, ConversionRow[]>();
  for (const row of conversions)
    byOrder.set(row.adv_txid ?? "", [...(byOrder.get(row.adv_txid ?? "") ?? []), row]);
  for (const record of options.records) {
    if (record.conversion === undefined) continue;
    const { line } = record.visit;
    const rows = byOrder.get(`${options.run}-${line.number}`) ?? [];
    const counted = rows.filter((row) => !row.is_duplicate);
    const row = counted[0];
    if (row === undefined || counted.length !== 1) {
      differences.push(`line ${line.number}: its conversion counts ${counted.length} times`);
      continue;
    }
    if (rows.length - 1 > record.unansweredPostbacks) {
      differences.push(
        `line ${line.number}: ${rows.length - 1} repeats stored, ${record.unansweredPostbacks} sent`,
      );
    }
    const money = expectedMoney(record.visit);
    if (row.status !== "approved")
      differences.push(`line ${line.number}: its conversion is ${row.status}`);
    if (row.click_id !== record.clickId)
      differences.push(`line ${line.number}: converted on click ${row.click_id ?? "none"}`);
    if (!record.conversion.isRepeat && row.id !== record.conversion.id) {
      differences.push(
        `line ${line.number}: conversion ${record.conversion.id} was answered, ${row.id} is stored`,
      );
    }
    for (const [name, stored, own] of [
      ["payout", row.payout, money.payout],
      ["revenue", row.revenue, money.revenue],
    ] as const) {
      if (amountOf(stored) !== own)
        differences.push(`line ${line.number}: ${name} ${stored}, expected ${formatAmount(own)}`);
    }
  }
  return differences;
}

/** Reports by country, by device and by bot, and the totals in every currency, against the ledger's own sums. */
async function reportDifferences(
  options: CompareOptions,
  clicks: readonly ClickRow[],
): Promise<string[]> {
  const differences: string[] = [];
  // Attempts without an answer are in the reports when they were recorded: the ledger counts them as stored.
  for (const [dimension, own] of [
    ["country", countBy(clicks, (row) => row.country)],
    ["device_type", countBy(clicks, (row) => row.device_type)],
    ["is_bot", countBy(clicks, (row) => String(row.is_bot))],
  ] as const) {
    const answer = await report(options, `group_by=${dimension}&metrics=clicks&limit=10000`);
    const shown = new Map(
      answer.data
        .filter((row) => Number(row["clicks"]) > 0)
        .map((row) => [String(row[dimension] ?? ""), Number(row["clicks"])]),
    );
    for (const key of new Set([...own.keys(), ...shown.keys()])) {
      const [counted, reported] = [own.get(key) ?? 0, shown.get(key) ?? 0];
      if (counted !== reported) {
        differences.push(
          `report by ${dimension}: "${key}" has ${reported} clicks, the ledger ${counted}`,
        );
      }
    }
  }
  differences.push(...(await totalDifferences(options, clicks)));
  return differences;
}

async function totalDifferences(
  options: CompareOptions,
  clicks: readonly ClickRow[],
): Promise<string[]> {
  const differences: string[] = [];
  const payout = new MoneyByCurrency();
  const revenue = new MoneyByCurrency();
  const offers = new Map(
    options.records.map((record) => [record.visit.offer.id, record.visit.offer]),
  );
  let converted = 0;
  for (const record of options.records) {
    if (record.conversion === undefined) continue;
    converted += 1;
    const money = expectedMoney(record.visit);
    payout.add(record.visit.offer.currency, money.payout);
    revenue.add(record.visit.offer.currency, money.revenue);
  }
  for (const row of clicks) {
    const offer = offers.get(row.offer_id);
    if (offer === undefined || !row.is_unique || row.is_bot || row.status !== "redirect") continue;
    if (offer.payout_type === "cpc") payout.add(offer.currency, offer.payout);
    if (offer.revenue_type === "rpc") revenue.add(offer.currency, offer.revenue);
  }
  for (const currency of new Set([...payout.currencies, ...revenue.currencies])) {
    const { totals } = await report(
      options,
      `currency=${currency}&metrics=clicks,conversions,payout,revenue`,
    );
    const facts: readonly (readonly [string, string | number, string | number])[] = [
      ["clicks", Number(totals["clicks"]), clicks.length],
      ["conversions", Number(totals["conversions"]), converted],
      ["payout", String(totals["payout"]), money(payout.of(currency))],
      ["revenue", String(totals["revenue"]), money(revenue.of(currency))],
    ];
    for (const [name, shown, own] of facts) {
      if (shown !== own)
        differences.push(`report in ${currency}: ${name} is ${shown}, the ledger has ${own}`);
    }
  }
  return differences;
}

function money(amount: Amount): string {
  return formatAmount(amount);
}

async function report(
  options: CompareOptions,
  query: string,
): Promise<z.infer<typeof ReportAnswer>> {
  const path = `/reports?from=${encodeURIComponent(options.from)}&filters=sub1:in:${options.run}&${query}`;
  return ReportAnswer.parse(await options.client.rest(path));
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

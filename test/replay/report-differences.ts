import { z } from "zod";
import { formatAmount } from "../../schemas/money/amount.ts";
import type { ServiceClient } from "../system/service.ts";
import { passes } from "./conditions.ts";
import type { ReportedConversion } from "./conversions.ts";
import { differing, type Fact } from "./differing.ts";
import { type ClickRow, type ConversionRow, MoneyByCurrency } from "./ledger.ts";
import { expectedMoney } from "./plan.ts";
import type { VisitRecord } from "./send.ts";
import { offerOf, type World } from "./world.ts";

export type ReportSubject = {
  readonly client: ServiceClient;
  readonly world: World;
  readonly run: string;
  /** ISO time before the first request of the run. */
  readonly from: string;
  readonly clicks: readonly ClickRow[];
  readonly conversions: readonly ConversionRow[];
  readonly reported: readonly ReportedConversion[];
  readonly records: readonly VisitRecord[];
  readonly countryOf: (record: VisitRecord) => string;
};

const Row = z.record(z.string(), z.unknown());
type Row = z.infer<typeof Row>;
const ReportAnswer = z.object({
  data: z.array(Row),
  totals: Row,
  next_offset: z.int().nullable(),
});

/** Compares reports by several dimensions, and the totals in every currency, with the ledger's own sums. */
export async function reportDifferences(subject: ReportSubject): Promise<string[]> {
  return [
    ...(await clickReports(subject)),
    ...(await impressionReport(subject)),
    ...(await moneyReports(subject)),
  ];
}

/**
 * Reports of clicks. The ledger counts stored clicks, because attempts without an answer are in the reports if they were recorded.
 * Blocked visitors made no click (G69).
 */
async function clickReports(subject: ReportSubject): Promise<string[]> {
  const clicks = subject.clicks.filter(({ status }) => status !== "blocked");
  const differences: string[] = [];
  for (const [dimensions, keyOf] of [
    [
      "offer,status_reason,country",
      (row: ClickRow) => [row.offer_id, row.status_reason, row.country],
    ],
    [
      "affiliate,click_status,is_bot",
      (row: ClickRow) => [row.affiliate_id, row.status, row.is_bot],
    ],
    [
      "smart_link,link_type,device_type",
      (row: ClickRow) => [row.smart_link_id, row.link_type, row.device_type],
    ],
    ["os,browser,is_unique", (row: ClickRow) => [row.os, row.browser, row.is_unique]],
  ] as const) {
    const own = {
      clicks: countBy(clicks, (row) => keyOf(row).join("|")),
      unique_clicks: countBy(
        clicks.filter((row) => row.is_unique),
        (row) => keyOf(row).join("|"),
      ),
      bot_clicks: countBy(
        clicks.filter((row) => row.is_bot),
        (row) => keyOf(row).join("|"),
      ),
    };
    const shown = await grouped(subject, dimensions, Object.keys(own));
    for (const [metric, counts] of Object.entries(own))
      differences.push(...countDifferences(`report by ${dimensions}`, metric, { shown, counts }));
  }
  return differences;
}

/** An attempt without an answer may have counted an impression. */
async function impressionReport(subject: ReportSubject): Promise<string[]> {
  const own = new Map<string, { least: number; most: number }>();
  for (const record of subject.records) {
    const { target } = record.visit;
    if (target.kind !== "impression") continue;
    const key = `${target.offer.id}|${subject.countryOf(record)}`;
    const { least, most } = own.get(key) ?? { least: 0, most: 0 };
    own.set(key, { least: least + 1, most: most + 1 + record.unansweredAttempts.length });
  }
  const shown = await grouped(subject, "offer,country", ["impressions"]);
  return [...new Set([...own.keys(), ...shown.keys()])].flatMap((key) => {
    const { least, most } = own.get(key) ?? { least: 0, most: 0 };
    const stored = Number(shown.get(key)?.["impressions"] ?? 0);
    if (least <= stored && stored <= most) return [];
    return [`report of impressions: "${key}" has ${stored}, the ledger ${least} to ${most}`];
  });
}

async function moneyReports(subject: ReportSubject): Promise<string[]> {
  const differences: string[] = [];
  const currencies = [...new Set(subject.world.offers.map(({ currency }) => currency))];
  for (const [dimensions, keyOf] of [
    ["offer,country", (row: ClickRow) => `${row.offer_id}|${row.country}`],
    ["affiliate", (row: ClickRow) => String(row.affiliate_id)],
    ["", () => ""],
  ] as const) {
    const own = ownMoney(subject, keyOf);
    for (const currency of currencies) {
      const where = `report in ${currency} by ${dimensions || "nothing"}`;
      const shown = await grouped(subject, dimensions, ["payout", "revenue"], currency);
      const keys = new Set([...own.payout.keys(), ...own.revenue.keys(), ...shown.keys()]);
      for (const key of keys) {
        const amount = (side: "payout" | "revenue"): string =>
          formatAmount(own[side].get(key)?.of(currency) ?? 0n);
        const row = shown.get(key);
        differences.push(
          ...differing(`${where}, "${key}"`, [
            ["payout", textOf(row?.["payout"] ?? "0.0000"), amount("payout")],
            ["revenue", textOf(row?.["revenue"] ?? "0.0000"), amount("revenue")],
          ]),
        );
      }
    }
    const shown = await grouped(subject, dimensions, ["conversions", "rejected_conversions"]);
    for (const [metric, counts] of Object.entries(own.counts))
      differences.push(...countDifferences(`report by ${dimensions}`, metric, { shown, counts }));
  }
  return differences;
}

type OwnMoney = {
  readonly payout: Map<string, MoneyByCurrency>;
  readonly revenue: Map<string, MoneyByCurrency>;
  readonly counts: {
    readonly conversions: Map<string, number>;
    readonly rejected_conversions: Map<string, number>;
  };
};

/** The money earned by approved conversions, and by people's unique clicks on offers that pay per click (G71). */
function ownMoney(subject: ReportSubject, keyOf: (row: ClickRow) => string): OwnMoney {
  const { world, clicks, conversions, reported } = subject;
  const byClick = new Map(clicks.map((row) => [row.click_id, row]));
  const keyOfConversion = (row: ConversionRow): string => {
    const click = byClick.get(row.click_id ?? "");
    return click === undefined ? "no click" : keyOf(click);
  };
  const own: OwnMoney = {
    payout: new Map(),
    revenue: new Map(),
    counts: {
      conversions: countBy(
        conversions.filter(({ status }) => status === "approved"),
        keyOfConversion,
      ),
      rejected_conversions: countBy(
        conversions.filter(({ status }) => status === "rejected"),
        keyOfConversion,
      ),
    },
  };
  const add = (
    side: "payout" | "revenue",
    key: string,
    currency: string,
    amount: string | bigint,
  ): void => {
    const money = own[side].get(key) ?? new MoneyByCurrency();
    money.add(currency, amount);
    own[side].set(key, money);
  };
  const approved = new Set(
    conversions.filter(({ status }) => status === "approved").map(({ click_id }) => click_id),
  );
  for (const { record, click, offer } of reported.filter((one) =>
    approved.has(one.click.click_id),
  )) {
    const { payout, revenue } = expectedMoney(offer, record.visit.saleAmount);
    add("payout", keyOf(click), offer.currency, payout);
    add("revenue", keyOf(click), offer.currency, revenue);
  }
  for (const row of clicks.filter((one) => one.is_unique && isPaid(one))) {
    const offer = offerOf(world, row.offer_id);
    if (offer.payout_type === "cpc") add("payout", keyOf(row), offer.currency, offer.payout);
    if (offer.revenue_type === "rpc") add("revenue", keyOf(row), offer.currency, offer.revenue);
  }
  return own;
}

/** A click that a condition refuses earns nothing, although its `url=` redirects it (G232). */
function isPaid({ status, status_reason }: ClickRow): boolean {
  const isTaken = passes(status_reason) || ["forwarded", "fail_route"].includes(status_reason);
  return status === "redirect" && isTaken;
}

/** Rows by the values of their dimensions; without dimensions, the totals under "". */
async function grouped(
  { client, run, from }: ReportSubject,
  dimensions: string,
  metrics: readonly string[],
  currency = "USD",
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  for (let offset: number | null = 0; offset !== null; ) {
    const query = new URLSearchParams({
      from,
      currency,
      metrics: metrics.join(","),
      filters: `sub1:in:${run}`,
      ...(dimensions === ""
        ? {}
        : { group_by: dimensions, limit: "10000", offset: String(offset) }),
    });
    const answer: z.infer<typeof ReportAnswer> = ReportAnswer.parse(
      await client.rest(`/reports?${query}`),
    );
    if (dimensions === "") return new Map([["", answer.totals]]);
    for (const row of answer.data) {
      const key = dimensions.split(",").map((name) => textOf(row[name]));
      rows.set(key.join("|"), row);
    }
    offset = answer.next_offset;
  }
  return rows;
}

function countDifferences(
  where: string,
  metric: string,
  of: { readonly shown: ReadonlyMap<string, Row>; readonly counts: ReadonlyMap<string, number> },
): string[] {
  const keys = [...new Set([...of.counts.keys(), ...of.shown.keys()])];
  const facts = keys.map((key): Fact => {
    const stored = Number(of.shown.get(key)?.[metric] ?? 0);
    return [`${metric} of "${key}"`, stored, of.counts.get(key) ?? 0];
  });
  return differing(where, facts);
}

function countBy<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

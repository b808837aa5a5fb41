import { formatAmount } from "../../schemas/money/amount.ts";
import { differing } from "./differing.ts";
import { groupBy } from "./group-by.ts";
import type { ClickRow, ConversionRow } from "./ledger.ts";
import { expectedMoney } from "./plan.ts";
import type { CountedConversion } from "./recounted-caps.ts";
import type { ConversionRecord, VisitRecord } from "./send.ts";
import { dayOf } from "./taken-clicks.ts";
import { offerOf, type World, type WorldOffer } from "./world.ts";

/** A conversion that was reported, with its stored click. */
export type ReportedConversion = {
  readonly record: VisitRecord;
  readonly answer: ConversionRecord;
  readonly click: ClickRow;
  readonly offer: WorldOffer;
};

/** The reported conversions whose click is stored. A missing click is already a difference. */
export function reportedConversions(
  world: World,
  records: readonly VisitRecord[],
  clicks: readonly ClickRow[],
): ReportedConversion[] {
  const byId = new Map(clicks.map((row) => [row.click_id, row]));
  return records.flatMap((record) => {
    const answer = record.conversion;
    const click = byId.get(record.answer.clickId);
    if (answer === undefined || click === undefined) return [];
    return [{ record, answer, click, offer: offerOf(world, click.offer_id) }];
  });
}

export function countedConversions(reported: readonly ReportedConversion[]): CountedConversion[] {
  return reported
    .filter(({ answer }) => isCounted(answer))
    .map(({ answer, offer }) => ({
      offerId: offer.id,
      sentAtMs: answer.sentAtMs,
      answeredAtMs: answer.answeredAtMs,
    }));
}

/** Whether it used up room of its caps. If the answer only says that the order is known, it counts as used. */
function isCounted(answer: ConversionRecord): boolean {
  return answer.reason !== "cap_exceeded";
}

/** Every reported order must be stored once, as answered, with the money of its offer; caps must be used exactly. */
export function conversionDifferences(
  run: string,
  reported: readonly ReportedConversion[],
  rows: readonly ConversionRow[],
): string[] {
  const byOrder = groupBy(rows, (row) => row.adv_txid ?? "");
  const orders = new Set(reported.map(({ record }) => `${run}-${record.visit.line.number}`));
  return [
    ...reported.flatMap((one) =>
      orderDifferences(one, byOrder.get(`${run}-${one.record.visit.line.number}`) ?? []),
    ),
    ...[...byOrder.keys()]
      .filter((order) => !orders.has(order))
      .map((order) => `order ${order} was never reported`),
    ...capDifferences(reported, rows),
  ];
}

function orderDifferences(reported: ReportedConversion, rows: readonly ConversionRow[]): string[] {
  const { record, answer, click, offer } = reported;
  const where = `line ${record.visit.line.number}`;
  const own = rows.filter((row) => !row.is_duplicate);
  const [row] = own;
  if (row === undefined || own.length !== 1)
    return [`${where}: its conversion is stored ${own.length} times`];
  const money = expectedMoney(offer, record.visit.saleAmount);
  const repeats = rows.length - 1;
  const isCapped = row.status_reason === "cap_exceeded";
  return [
    ...(repeats > answer.unansweredPostbacks
      ? [`${where}: ${repeats} repeats stored, ${answer.unansweredPostbacks} sent`]
      : []),
    ...differing(where, [
      ["conversion", row.id, answer.isRepeat ? row.id : answer.id],
      ["status", row.status, isCapped ? "rejected" : "approved"],
      ["status_reason", row.status_reason, isCapped ? "cap_exceeded" : ""],
      ["click_id", row.click_id ?? "", click.click_id],
      ["offer_id", row.offer_id, offer.id],
      ["affiliate_id", row.affiliate_id ?? 0, click.affiliate_id],
      ["currency", row.currency, offer.currency],
      ["payout", row.payout, formatAmount(money.payout)],
      ["revenue", row.revenue, formatAmount(money.revenue)],
    ]),
    // The answer to a repeat does not show the answer to the first report.
    ...(answer.isRepeat
      ? []
      : differing(where, [
          ["answered status", row.status, answer.status],
          ["answered reason", row.status_reason, answer.reason],
        ])),
  ];
}

/** A cap approves exactly as many conversions as it has room for, and refuses none before it is full (P17). */
function capDifferences(
  reported: readonly ReportedConversion[],
  rows: readonly ConversionRow[],
): string[] {
  const byClick = new Map(
    rows.filter((row) => !row.is_duplicate).map((row) => [row.click_id, row]),
  );
  return [...groupBy(reported, ({ offer }) => offer)].flatMap(([offer, all]) => {
    const { daily, total } = offer.rules.caps?.conversions ?? {};
    const isApproved = ({ click }: ReportedConversion): boolean =>
      byClick.get(click.click_id)?.status === "approved";
    const ofDay = [...groupBy(all, ({ answer }) => dayOf(answer.answeredAtMs)).values()];
    return [
      ...(total === undefined ? [] : [{ limit: total, within: all }]),
      ...(daily === undefined ? [] : ofDay.map((within) => ({ limit: daily, within }))),
    ].flatMap(({ limit, within }) =>
      differing(`offer ${offer.code}, which has a cap of ${limit} conversions`, [
        ["approved", within.filter(isApproved).length, Math.min(limit, within.length)],
      ]),
    );
  });
}

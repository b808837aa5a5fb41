import { formatAmount } from "../../schemas/money/amount.ts";
import { differing } from "./differing.ts";
import { groupBy } from "./group-by.ts";
import type { ClickRow, ConversionRow } from "./ledger.ts";
import { expectedMoney } from "./plan.ts";
import type { CountedConversion } from "./recounted-caps.ts";
import type { ConversionRecord, VisitRecord } from "./send.ts";
import { dayOf } from "./taken-clicks.ts";
import { offerOf, type World, type WorldOffer } from "./world.ts";

/** A conversion that was reported, with its click as stored. */
export type ReportedConversion = {
  readonly record: VisitRecord;
  readonly said: ConversionRecord;
  readonly click: ClickRow;
  readonly offer: WorldOffer;
};

/** Those whose click is stored; one whose click is not is a difference already. */
export function reportedConversions(
  world: World,
  records: readonly VisitRecord[],
  clicks: readonly ClickRow[],
): ReportedConversion[] {
  const byId = new Map(clicks.map((row) => [row.click_id, row]));
  return records.flatMap((record) => {
    const said = record.conversion;
    const click = byId.get(record.answer.clickId);
    if (said === undefined || click === undefined) return [];
    return [{ record, said, click, offer: offerOf(world, click.offer_id) }];
  });
}

export function countedConversions(reported: readonly ReportedConversion[]): CountedConversion[] {
  return reported
    .filter(({ said }) => isCounted(said))
    .map(({ said, offer }) => ({
      offerId: offer.id,
      sentAtMs: said.sentAtMs,
      answeredAtMs: said.answeredAtMs,
    }));
}

/** A repeat of a report whose answer was lost tells the state of the first one, or only that there is one. */
function isCounted(said: ConversionRecord): boolean {
  return said.reason !== "cap_exceeded";
}

/** Every reported order is stored once, as it was answered, with the money of its offer; caps let exactly as many through. */
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
  const { record, said, click, offer } = reported;
  const where = `line ${record.visit.line.number}`;
  const own = rows.filter((row) => !row.is_duplicate);
  const [row] = own;
  if (row === undefined || own.length !== 1)
    return [`${where}: its conversion is stored ${own.length} times`];
  const money = expectedMoney(offer, record.visit.saleAmount);
  const repeats = rows.length - 1;
  const isCapped = row.status_reason === "cap_exceeded";
  return [
    ...(repeats > said.unansweredPostbacks
      ? [`${where}: ${repeats} repeats stored, ${said.unansweredPostbacks} sent`]
      : []),
    ...differing(where, [
      ["conversion", row.id, said.isRepeat ? row.id : said.id],
      ["status", row.status, isCapped ? "rejected" : "approved"],
      ["status_reason", row.status_reason, isCapped ? "cap_exceeded" : ""],
      ["click_id", row.click_id ?? "", click.click_id],
      ["offer_id", row.offer_id, offer.id],
      ["affiliate_id", row.affiliate_id ?? 0, click.affiliate_id],
      ["currency", row.currency, offer.currency],
      ["payout", row.payout, formatAmount(money.payout)],
      ["revenue", row.revenue, formatAmount(money.revenue)],
    ]),
    // Of a repeat, only the row of the first report is known.
    ...(said.isRepeat
      ? []
      : differing(where, [
          ["answered status", row.status, said.status],
          ["answered reason", row.status_reason, said.reason],
        ])),
  ];
}

/** Exactly as many as a cap has room for are approved, and none is refused while there is room (P17). */
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
    const ofDay = [...groupBy(all, ({ said }) => dayOf(said.answeredAtMs)).values()];
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

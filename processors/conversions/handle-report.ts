import type { PostbackRequest } from "../../schemas/events/postback-request.ts";
import { formatAmount } from "../../schemas/money/amount.ts";
import type { ExchangeRate } from "../../schemas/postgres/exchange-rates.ts";
import { applyUpdate } from "./apply-update.ts";
import { attributeClick } from "./attribute/attribute-click.ts";
import { isClickIpCrowded } from "./attribute/count-clicks.ts";
import { resolveCoupon } from "./attribute/resolve-coupon.ts";
import { formatRate } from "./judge/convert-money.ts";
import { convertedMoney } from "./judge/converted-money.ts";
import { draftReport, type ReportDraft } from "./judge/draft-report.ts";
import type { Incoming } from "./read/incoming-report.ts";
import { reportFingerprint } from "./read/report-fingerprint.ts";
import {
  type Credit,
  fraudChecksOf,
  isRefusal,
  resolveTarget,
  type Target,
} from "./read/resolve-target.ts";
import {
  type ConversionState,
  findConversion,
  findRecorded,
  type Recording,
  type RecordOutcome,
  type RecordPlan,
  tryConversion,
} from "./record/conversions.ts";
import { recordTraced } from "./record/record-traced.ts";
import type { Money } from "./report/conversion-terms.ts";
import { findFirstAnswer, keyedAnswer } from "./report/first-answer.ts";
import { ignoredNote, joinNotes } from "./report/ignored-values.ts";
import { type Handled, refusal, takenReply } from "./report/postback-answer.ts";
import { type Refusal, refused, UNAVAILABLE, unreadable } from "./report/refusal.ts";
import { reportKey } from "./report/report-key.ts";
import { readReport } from "./report/report-params.ts";
import { FOREIGN_OFFER, mayActFor, type Sender, senderOfToken } from "./report/sender.ts";
import type { ReportSources } from "./report-sources.ts";

/** Reads, judges and records one report. Throws what the store throws: the caller recognises outages. */
export async function handleReport(
  sources: ReportSources,
  rawReport: PostbackRequest,
): Promise<Handled> {
  const earlier = await recordedBefore(sources, rawReport);
  if (earlier !== undefined) return earlier;
  const read = readReport(rawReport);
  const sender = senderOf(sources, rawReport);
  const workspaceId = "workspace" in sender ? sender.workspace.id : undefined;
  if (read.kind === "malformed")
    return { ...refusal(unreadable(read), { workspaceId }), isUnreadable: true };
  if (sender.kind === "refused") return refusal(sender, { workspaceId });
  const { report } = read;
  const fingerprint = reportFingerprint(sources.catalog.secret, report);
  const key = reportKey(sender, report, fingerprint);
  const first = key === undefined ? undefined : await findFirstAnswer(sources.pool, key);
  if (first !== undefined) return first;
  const origin = { sender, host: rawReport.host };
  const incoming = { rawReport, report, fingerprint, key, origin };
  const handled =
    report.conversionId === undefined
      ? await handleClickReport(sources, incoming, workspaceId)
      : await updateNamed(sources, incoming, report.conversionId);
  // A report without `keyToStore` was refused or relayed, so its answer still has to be stored under the key.
  const kept = "keyToStore" in handled ? handled : { ...handled, keyToStore: key };
  return report.ignored.length === 0 ? kept : withIgnored(kept, report.ignored);
}

/** Names the ignored parameters in the inbound log, in the answer to a pixel, and in the `details` of a refusal (G216). */
function withIgnored(handled: Handled, ignored: readonly string[]): Handled {
  const { reply } = handled;
  const note = ignoredNote(ignored);
  const { details } = reply.body;
  const isRefused = !reply.body.ok && reply.httpStatus !== 503;
  const all = typeof details === "object" ? { ...details, ignored } : { ignored };
  const body = isRefused ? { ...reply.body, details: all } : reply.body;
  return {
    ...handled,
    reply: { ...reply, body, hint: joinNotes(reply.hint, note) },
    message: joinNotes(handled.message, note),
  };
}

/** A repeat of a recorded report gets the recorded result again: only its answer was lost (P15). */
async function recordedBefore(
  { pool }: ReportSources,
  { conversionId, isRepeat }: PostbackRequest,
): Promise<Handled | undefined> {
  if (conversionId === undefined || isRepeat !== true) return undefined;
  const row = await findRecorded(pool, conversionId);
  if (row === undefined) return undefined;
  const reply = takenReply({
    conversionId,
    status: row.status,
    reason: row.status_reason,
    isDuplicate: row.is_duplicate,
    details: {},
  });
  return {
    reply,
    workspaceId: row.workspace_id,
    clickId: row.click_id ?? undefined,
    conversionId,
    offerId: row.offer_id,
    message: row.status_reason,
  };
}

function senderOf(
  { catalog }: ReportSources,
  { endpoint, params, receivedAtMs }: PostbackRequest,
): Sender | Refusal {
  return endpoint === "px"
    ? { kind: "pixel" }
    : senderOfToken(catalog, params["token"]?.trim() ?? "", receivedAtMs);
}

/** A report about a click, an offer or an order. */
async function handleClickReport(
  sources: ReportSources,
  incoming: Incoming,
  workspaceId: number | undefined,
): Promise<Handled> {
  const { report, origin } = incoming;
  const { clickId } = report;
  const credit = await creditOf(sources, incoming);
  if (isRefusal(credit))
    return await refuseOrRelay(sources, incoming, credit, { workspaceId, clickId });
  const { click } = credit;
  const target = resolveTarget(sources.catalog, report, credit, origin);
  if (target.kind === "refused") {
    return await refuseOrRelay(sources, incoming, target, {
      workspaceId: workspaceId ?? click?.workspace_id,
      clickId: click?.click_id ?? clickId,
      offerId: click?.offer_id,
    });
  }
  return await recordReport(sources, incoming, target, credit);
}

/** A click of another workspace gets the same answer as a click that does not exist (PB-057). */
async function refuseOrRelay(
  { relay }: ReportSources,
  incoming: Incoming,
  cause: Refusal,
  ids: Pick<Handled, "workspaceId" | "clickId" | "offerId">,
): Promise<Handled> {
  const relayed = cause.result === "unknown_click" ? await relay.relay(incoming) : undefined;
  return relayed ?? refusal(cause, ids);
}

/** A click wins over a coupon, and a coupon over a click found by e-mail (G114, G115). */
async function creditOf(
  sources: ReportSources,
  { report, rawReport, origin }: Incoming,
): Promise<Credit | Refusal> {
  const { clickId, adClickId, couponCode } = report;
  if (couponCode === undefined || clickId !== undefined || adClickId !== undefined)
    return await attributeClick(sources, report, origin, rawReport.receivedAtMs);
  const at = { ...origin, atMs: rawReport.receivedAtMs };
  const coupon = resolveCoupon(sources.catalog, couponCode, report, at);
  return isRefusal(coupon) ? coupon : { click: undefined, coupon };
}

async function updateNamed(
  sources: ReportSources,
  incoming: Incoming,
  conversionId: string,
): Promise<Handled> {
  const { sender } = incoming.origin;
  const workspaceId = sender.kind === "pixel" ? undefined : sender.workspace.id;
  const row = await findConversion(sources.pool, conversionId);
  if (row === undefined || row.workspace_id !== workspaceId) {
    return refusal(refused("unknown conversion_id", "unknown_conversion"), { workspaceId });
  }
  if (!mayActFor(sender, row.advertiser_id)) return refusal(FOREIGN_OFFER, { workspaceId });
  const { namesEvent, eventCode } = incoming.report;
  if (namesEvent && eventCode !== row.event_code) return otherEvent(row);
  return (await applyUpdate(sources, incoming, row)) ?? refusal(UNAVAILABLE, { workspaceId });
}

/** One event never changes the conversion of another event (G220). */
function otherEvent({
  workspace_id: workspaceId,
  offer_id: offerId,
  event_code,
}: Pick<ConversionState, "workspace_id" | "offer_id" | "event_code">): Handled {
  const cause = refused("unknown conversion_id", "unknown_conversion");
  const reason = `the conversion is of the event ${event_code}: leave event out, or name that one`;
  return refusal({ ...cause, details: { reason }, hint: reason }, { workspaceId, offerId });
}

async function recordReport(
  sources: ReportSources,
  incoming: Incoming,
  target: Target,
  credit: Credit,
): Promise<Handled> {
  const { report, rawReport } = incoming;
  const { click } = credit;
  const ids = {
    workspaceId: target.workspace.id,
    clickId: click?.click_id,
    offerId: target.offer.id,
  };
  const converted = await convertedMoney(sources, incoming, {
    workspaceId: target.workspace.id,
    currency: target.offer.currency,
    atMs: rawReport.receivedAtMs,
  });
  if (isRefusal(converted)) return refusal(forPixel(rawReport, converted), ids);
  const { money: given, ignored, rate } = converted;
  const isCrowded = await isClickIpCrowded(sources, click, {
    clicksMax: fraudChecksOf(target).duplicate_click_ip,
    atMs: rawReport.receivedAtMs,
  });
  if (isCrowded === "away") return refusal(UNAVAILABLE, ids);
  const draft = draftReport(sources, incoming, target, {
    credit,
    given,
    isClickIpCrowded: isCrowded,
  });
  const details = detailsOf(incoming, target, { rate, ignored, draft });
  const key = incoming.key === undefined ? undefined : { ...incoming.key, details };
  const store = (recording: Recording): Promise<RecordOutcome> =>
    report.isTest
      ? tryConversion(sources.pool, recording)
      : recordTraced(sources, async (cause) => {
          const plan = { ...recording.plan, cause };
          return await sources.recorder.record({ ...recording, plan, key });
        });
  let outcome = await store(draft);
  if (outcome.outcome === "existing") {
    const updated = await applyUpdate(sources, incoming, outcome.row);
    if (updated !== undefined) return updated;
    // A second report of an order, without a status and with the same or no money, is a duplicate and not a change (G106, G198).
    const asRepeat: RecordPlan = { ...draft.plan, on_txid: "duplicate", on_click: "duplicate" };
    outcome = await store({ ...draft, plan: asRepeat });
  }
  switch (outcome.outcome) {
    case "recorded":
      return recorded(incoming, target, { outcome, draft, details, clickId: ids.clickId });
    case "keyed":
      return key === undefined ? refusal(UNAVAILABLE, ids) : keyedAnswer(key, outcome);
    case "none":
      return refusal(target.creationRefusal ?? UNAVAILABLE, ids);
    case "existing":
    case "conflict":
      // The plan rules these outcomes out. If the store returns one anyway, the sender repeats the report.
      return refusal(UNAVAILABLE, ids);
  }
}

/** A pixel without a rate is refused: kept for later, it would hold up all others until somebody enters the rate. */
function forPixel({ endpoint }: PostbackRequest, cause: Refusal): Refusal {
  const { retryAfterSeconds, hint, details = {} } = cause;
  if (endpoint === "pb" || retryAfterSeconds === undefined) return cause;
  return { ...refused(String(details["reason"])), details, hint };
}

function recorded(
  incoming: Incoming,
  target: Target,
  facts: {
    readonly outcome: Extract<RecordOutcome, { outcome: "recorded" }>;
    readonly draft: ReportDraft;
    readonly details: Readonly<Record<string, unknown>>;
    readonly clickId: string | undefined;
  },
): Handled {
  const { outcome } = facts;
  const { couponClick } = facts.draft;
  const { isTest } = incoming.report;
  const known = { ...facts.details, ...outcome.details };
  const details = isTest ? { reason: outcome.status_reason, ...known } : known;
  const reply = takenReply({
    conversionId: isTest ? null : outcome.id,
    status: outcome.status,
    reason: outcome.status_reason,
    isDuplicate: outcome.is_duplicate,
    isTest,
    details,
  });
  return {
    reply: couponClick === undefined ? reply : { ...reply, couponClick },
    workspaceId: target.workspace.id,
    clickId: facts.clickId ?? couponClick?.click_id,
    conversionId: isTest ? undefined : outcome.id,
    offerId: target.offer.id,
    message: joinNotes(outcome.status_reason, outcome.details?.["reason"]),
    keyToStore: undefined,
  };
}

/** Facts that the answer adds to the conversion (G121). */
function detailsOf(
  incoming: Incoming,
  target: Target,
  facts: {
    readonly rate: ExchangeRate | undefined;
    readonly ignored: readonly string[];
    readonly draft: ReportDraft;
  },
): Readonly<Record<string, unknown>> {
  const { rate, ignored, draft } = facts;
  return {
    ...(rate === undefined ? {} : { currency: rate.from, rate: formatRate(rate) }),
    ...(ignored.length === 0 ? {} : { ignored }),
    ...(incoming.report.isTest ? testDetails(incoming, target, draft.money) : {}),
  };
}

function testDetails(
  { report, origin }: Incoming,
  { offer }: Target,
  money: Money,
): Record<string, unknown> {
  return {
    event: report.eventCode,
    ...(origin.sender.kind === "workspace" ? { payout: formatAmount(money.payout) } : {}),
    revenue: formatAmount(money.revenue),
    currency: offer.currency,
  };
}

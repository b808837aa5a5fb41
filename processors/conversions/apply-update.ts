import type { Offer } from "../../schemas/catalog/records.ts";
import { convertedMoney } from "./judge/converted-money.ts";
import { decideChange, mayBeRepeat, type RequestedChange } from "./judge/decide-change.ts";
import { isBlocked } from "./judge/judge-conversion.ts";
import type { Incoming } from "./read/incoming-report.ts";
import { isOnIpList } from "./read/ip-list.ts";
import { isRefusal } from "./read/resolve-target.ts";
import { type CapCount, capCounts } from "./record/cap-counts.ts";
import {
  type ConversionChange,
  changeByReport,
  type ReportedChange,
} from "./record/change-by-report.ts";
import { type ConversionState, findConversion } from "./record/conversions.ts";
import { recordTraced } from "./record/record-traced.ts";
import { type Keyed, keyedAnswer } from "./report/first-answer.ts";
import { type Handled, refusal, takenReply } from "./report/postback-answer.ts";
import { type Refusal, refused, UNAVAILABLE, UPDATE_IP_REFUSED } from "./report/refusal.ts";
import type { ReportSources } from "./report-sources.ts";

/** Gives up after this many attempts, if other writers keep changing the row. */
const ATTEMPTS_MAX = 10;

/** The state that the answer shows. `isKept`: no answer must be stored any more, because the change stored it or has no key. */
type Shown = Pick<ConversionState, "status" | "status_reason"> & { readonly isKept?: boolean };

/**
 * Applies a later postback to its conversion. The change is decided from one version of the row and written only if the row still has that
 * version, else it is decided again. A report that equals the report which made or last changed the conversion changes nothing (G198).
 * Undefined for a report that names neither a status nor the conversion and would change nothing: it is a duplicate.
 */
export async function applyUpdate(
  sources: ReportSources,
  incoming: Incoming,
  found: ConversionState,
): Promise<Handled | undefined> {
  const { report } = incoming;
  const isPlain = report.status === undefined && report.conversionId === undefined;
  if (isRepeatOf(found, incoming)) {
    const shown = { shown: found, ignored: report.ignored };
    return isPlain ? undefined : updated(incoming, found, shown);
  }
  const ids = {
    workspaceId: found.workspace_id,
    clickId: report.clickId,
    offerId: found.offer_id,
    eventCode: found.event_code,
  };
  const converted = await convertedMoney(sources, incoming, {
    workspaceId: found.workspace_id,
    currency: found.currency,
    atMs: Date.parse(found.conv_ts),
  });
  if (isRefusal(converted)) return refusal(converted, ids);
  const { ignored } = converted;
  const requested = requestedChange(sources, incoming, found, converted);
  if (mayBeRepeat(found, requested)) return updated(incoming, found, { shown: found, ignored });
  if (isPlain && decideChange(found, requested) === undefined) return undefined;
  const allowed = updateAllowed(sources, incoming, found);
  if (isRefusal(allowed)) return refusal(allowed, ids);
  const shown = await changeUntilCurrent(sources, incoming, {
    found,
    requested,
    ignored,
    capsOf: (change) => capsOf(sources, allowed.offer, found, change),
    isPlain,
  });
  if (shown === "duplicate") return undefined;
  if (shown === undefined) return refusal(UNAVAILABLE, ids);
  if ("reply" in shown) return shown;
  return updated(incoming, found, { shown, ignored });
}

function requestedChange(
  { catalog }: ReportSources,
  { report }: Incoming,
  { affiliate_id: affiliateId }: ConversionState,
  { money }: Pick<RequestedChange, "money">,
): RequestedChange {
  return {
    status: report.status,
    money,
    namesConversion: report.conversionId !== undefined,
    isPartnerBlocked: isBlocked(
      affiliateId === null ? undefined : catalog.affiliates.get(affiliateId),
    ),
  };
}

function isRepeatOf(row: ConversionState, { fingerprint }: Incoming): boolean {
  return fingerprint === row.report_fingerprint || fingerprint === row.change_fingerprint;
}

function detailsOf(ignored: readonly string[]): Readonly<Record<string, unknown>> {
  return ignored.length === 0 ? {} : { ignored };
}

function updated(
  { report, key }: Incoming,
  found: ConversionState,
  { shown, ignored }: { readonly shown: Shown; readonly ignored: readonly string[] },
): Handled {
  return {
    reply: takenReply({
      conversionId: found.id,
      status: shown.status,
      reason: shown.status_reason,
      isDuplicate: found.is_duplicate,
      isUpdate: true,
      isTest: report.isTest,
      details: detailsOf(ignored),
    }),
    keyToStore: shown.isKept === true ? undefined : key,
    workspaceId: found.workspace_id,
    clickId: report.clickId,
    conversionId: found.id,
    offerId: found.offer_id,
    eventCode: found.event_code,
    message: shown.status_reason,
  };
}

type Update = {
  readonly found: ConversionState;
  readonly requested: RequestedChange;
  readonly ignored: readonly string[];
  readonly capsOf: (change: ConversionChange) => readonly CapCount[];
  readonly isPlain: boolean;
};

/**
 * The state after the change, or the first answer under the report's key. `duplicate`: a plain report, and another report has just made the
 * same change. Undefined if the row is gone, or if other writers kept changing it.
 */
async function changeUntilCurrent(
  sources: ReportSources,
  incoming: Incoming,
  update: Update,
): Promise<Shown | Handled | "duplicate" | undefined> {
  let row: ConversionState | undefined = update.found;
  for (let attempt = 0; row !== undefined && attempt < ATTEMPTS_MAX; attempt += 1) {
    const change = isRepeatOf(row, incoming) ? undefined : decideChange(row, update.requested);
    if (change === undefined) return update.isPlain ? "duplicate" : row;
    const reported = reportedChange(sources, incoming, update, { row, change });
    const { id, version } = row;
    const outcome = await recordTraced(
      sources,
      async (cause) =>
        await changeByReport(
          sources.pool,
          { id, version },
          { ...reported, cause },
          incoming.report,
        ),
    );
    if (outcome.outcome === "keyed") return firstAnswerOf(incoming, outcome);
    if (outcome.outcome !== "stale") return { ...outcome, isKept: true };
    row = await findConversion(sources.pool, row.id);
  }
  return undefined;
}

function reportedChange(
  { catalog }: ReportSources,
  { report, fingerprint, key }: Incoming,
  { ignored, capsOf: caps }: Update,
  { row, change }: { readonly row: ConversionState; readonly change: ConversionChange },
): Omit<ReportedChange, "cause"> {
  const isReinstated = row.status === "rejected" && change.status !== "rejected";
  return {
    change,
    fingerprint,
    askedStatus: report.status ?? null,
    key: key === undefined ? undefined : { ...key, details: detailsOf(ignored) },
    caps: isReinstated ? caps(change) : [],
    timezone: catalog.workspaces.get(row.workspace_id)?.timezone ?? "UTC",
  };
}

function firstAnswerOf({ key }: Incoming, kept: Keyed): Handled | undefined {
  return key === undefined ? undefined : keyedAnswer(key, kept);
}

/** The caps in force now, in the currency that the conversion was recorded in. */
function capsOf(
  { catalog }: ReportSources,
  offer: Offer,
  { currency, advertiser_id }: ConversionState,
  change: ConversionChange,
): readonly CapCount[] {
  const advertiser = catalog.advertisers.get(advertiser_id);
  if (advertiser === undefined) return [];
  const owners = {
    offer: { ...offer, currency },
    advertiser,
    groups: catalog.groupsOf(offer.id),
  };
  const { payout, revenue, sale_amount: saleAmount } = change;
  return capCounts(owners, {
    payout,
    revenue,
    saleAmount,
    payoutGiven: change.payout_given,
    revenueGiven: change.revenue_given,
  });
}

/** The offer of the conversion, or a refusal: the sender may not change it, or its offer or event no longer exists. */
function updateAllowed(
  { catalog }: ReportSources,
  { origin, rawReport }: Incoming,
  row: ConversionState,
): Refusal | { readonly offer: Offer } {
  const { sender } = origin;
  if (sender.kind === "advertiser" && !sender.workspace.advertiser_updates) {
    return refused("advertiser postbacks may not change existing conversions in this workspace");
  }
  const advertiser = catalog.advertisers.get(row.advertiser_id);
  if (advertiser !== undefined && !isOnIpList(advertiser.postback_ip_allowlist, rawReport.ip)) {
    return UPDATE_IP_REFUSED;
  }
  const offer = catalog.offers.get(row.offer_id);
  if (offer === undefined) return refused("offer of this click no longer exists", "unknown_offer");
  if (catalog.eventOf(row.offer_id, row.event_code) === undefined) {
    return refused("event of this conversion no longer exists");
  }
  return { offer };
}

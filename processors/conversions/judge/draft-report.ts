import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { CouponClick } from "../../../schemas/events/coupon-click.ts";
import { mintClickId } from "../../../schemas/ids/click-id.ts";
import { newConversionId } from "../../../schemas/ids/conversion-id.ts";
import { storedIp } from "../../../schemas/net/stored-ip.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import type { Incoming } from "../read/incoming-report.ts";
import { isOnIpList } from "../read/ip-list.ts";
import type { CouponCredit, Credit, Target } from "../read/resolve-target.ts";
import type { NewConversion, OnRepeat, Recording } from "../record/conversions.ts";
import type { GivenMoney } from "../report/report-params.ts";
import { type Creation, type Draft, draftCreation } from "./draft-creation.ts";
import { isOncePerClick } from "./new-conversion.ts";

/** The new conversion that a report asks for, and how to record it. */
export type ReportDraft = Draft & {
  /** The click to record with the conversion. */
  readonly couponClick: CouponClick | undefined;
  readonly coupon_click: Recording["coupon_click"];
};

type Facts = {
  readonly credit: Credit;
  readonly given: GivenMoney;
  readonly isClickIpCrowded: boolean;
};

export function draftReport(
  sources: { readonly catalog: Catalog; readonly clock: Clock },
  incoming: Incoming,
  target: Target,
  { credit: { click, coupon }, given, isClickIpCrowded }: Facts,
): ReportDraft {
  const { report, rawReport, origin } = incoming;
  const couponClick = couponClickOf(sources, incoming, coupon);
  const draft = draftCreation(sources.catalog, {
    id: rawReport.conversionId ?? newConversionId(sources.clock.nowMs()),
    target,
    click,
    given,
    coupon:
      coupon === undefined ? undefined : { clickId: couponClick?.click_id, domain: origin.host },
    method: methodOf(incoming),
    convTsMs: rawReport.receivedAtMs,
    nowMs: rawReport.receivedAtMs,
    txid: report.txid,
    convIp: storedIp(userIpOf(incoming) ?? rawReport.ip, target.workspace.ip_storage),
    params:
      report.couponCode === undefined
        ? report.params
        : { ...report.params, coupon_code: report.couponCode },
    emailHash: report.emailHash,
    phoneHash: report.phoneHash,
    reported: { fingerprint: incoming.fingerprint, status: report.status },
    givenStatus: report.status,
    isClickIpCrowded,
    // A pixel comes from the visitor's address, so the advertiser's list does not apply.
    isIpAllowed:
      origin.sender.kind === "pixel" ||
      isOnIpList(target.advertiser.postback_ip_allowlist, rawReport.ip),
    address: userIpOf(incoming) ?? click?.ip ?? "",
    plan: planOf(incoming, target),
  });
  return { ...draft, couponClick, coupon_click: pendingCouponClick(incoming, couponClick) };
}

/** For an ingress of an earlier version, which sends no `recordsUntilMs`. It waits 7 s for an answer, so this is long enough. */
const RECORDS_WITHIN_MS = 60_000;

function pendingCouponClick(
  { rawReport: { producer, recordsUntilMs, receivedAtMs } }: Incoming,
  click: CouponClick | undefined,
): Recording["coupon_click"] {
  if (click === undefined || producer === undefined) return undefined;
  return { click, producer, until_ms: recordsUntilMs ?? receivedAtMs + RECORDS_WITHIN_MS };
}

/** The click that a coupon report creates. None for a test, or if the ingress cannot record it. */
function couponClickOf(
  { catalog }: { readonly catalog: Catalog },
  { report, rawReport, origin }: Incoming,
  coupon: CouponCredit | undefined,
): CouponClick | undefined {
  const { producer, receivedAtMs } = rawReport;
  if (coupon === undefined || producer === undefined || report.isTest) return undefined;
  const { offer, affiliate } = coupon;
  const parts = { atMs: receivedAtMs, shard: catalog.lanes.ofOffer(offer.id), producer };
  return {
    click_id: mintClickId(parts, catalog.secret),
    ts: receivedAtMs,
    workspace_id: offer.workspace_id,
    offer_id: offer.id,
    advertiser_id: offer.advertiser_id,
    affiliate_id: affiliate.id,
    domain: origin.host,
  };
}

/** The visitor's address, if the sender is the visitor or reports it (G102). */
function userIpOf({ report, rawReport, origin }: Incoming): string | undefined {
  return origin.sender.kind === "pixel" ? rawReport.ip : report.userIp;
}

function planOf({ report, origin }: Incoming, target: Target): Creation["plan"] {
  const isPixel = origin.sender.kind === "pixel";
  return {
    ...reactions({ report, origin }),
    on_none: target.creationRefusal === undefined ? "insert" : "none",
    latest_of_click:
      !isPixel &&
      !isOncePerClick(target) &&
      report.status !== undefined &&
      report.txid === undefined,
    names_event: report.namesEvent,
    actor: isPixel ? "pixel" : "postback",
    key_id: null,
  };
}

/** Whether a report about an existing row changes it (G106). Pixels never do (G159). */
function reactions({ report, origin }: Pick<Incoming, "report" | "origin">): {
  on_txid: OnRepeat;
  on_click: OnRepeat;
} {
  if (origin.sender.kind === "pixel") return { on_txid: "duplicate", on_click: "duplicate" };
  const hasMoney = Object.values(report.money).some((amount) => amount !== undefined);
  return {
    on_txid: report.status !== undefined || hasMoney ? "existing" : "duplicate",
    on_click: report.status !== undefined ? "existing" : "duplicate",
  };
}

function methodOf({ report, origin }: Incoming): NewConversion["method"] {
  if (origin.sender.kind !== "pixel") return "s2s";
  return report.isScript ? "js" : "pixel";
}

import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { CouponClick } from "../../../schemas/events/coupon-click.ts";
import { shardOfOffer } from "../../../schemas/events/shards.ts";
import { mintClickId } from "../../../schemas/ids/click-id.ts";
import { newConversionId } from "../../../schemas/ids/conversion-id.ts";
import { isOnIpList, storedIp } from "../ip-list.ts";
import type { Incoming, ReportSources } from "../read/incoming-report.ts";
import type { GivenMoney } from "../read/report-params.ts";
import {
  type CouponCredit,
  type Credit,
  fraudChecksOf,
  type Target,
  termsOf,
} from "../read/resolve-target.ts";
import { capCounts } from "../record/cap-counts.ts";
import type {
  AddressLimit,
  NewConversion,
  OnRepeat,
  Recording,
  RecordPlan,
} from "../record/conversions.ts";
import { computeMoney, type Money } from "./conversion-terms.ts";
import { judgeConversion, type Verdict } from "./judge-conversion.ts";
import { isOncePerClick, newConversion } from "./new-conversion.ts";

/** A new conversion as the report has it, and how to record it. */
export type Draft = Recording & {
  readonly money: Money;
  /** To be recorded with the conversion. */
  readonly couponClick: CouponClick | undefined;
};

type Facts = {
  readonly credit: Credit;
  readonly given: GivenMoney;
  readonly isClickIpCrowded: boolean;
};

export function draftReport(
  sources: ReportSources,
  incoming: Incoming,
  target: Target,
  facts: Facts,
): Draft {
  const { report, request } = incoming;
  const { given, isClickIpCrowded } = facts;
  const { click } = facts.credit;
  const couponClick = couponClickOf(sources, incoming, facts.credit.coupon);
  const id = request.conversionId ?? newConversionId(sources.clock.nowMs());
  const terms = termsOf(sources.catalog, target);
  const money = computeMoney(terms, { ...given, saleAmount: given.saleAmount ?? 0n });
  const verdict = verdictOf(sources, incoming, target, { id, click, money, isClickIpCrowded });
  const row = newConversion({
    id,
    target,
    click,
    terms,
    money,
    verdict,
    coupon:
      facts.credit.coupon === undefined
        ? undefined
        : { clickId: couponClick?.click_id, domain: incoming.origin.host },
    method: methodOf(incoming),
    convTsMs: request.receivedAtMs,
    txid: report.txid,
    convIp: storedIp(userIpOf(incoming) ?? request.ip, target.workspace.ip_storage),
    params:
      report.couponCode === undefined
        ? report.params
        : { ...report.params, coupon_code: report.couponCode },
    emailHash: report.emailHash,
    phoneHash: report.phoneHash,
    reported: { fingerprint: incoming.fingerprint, status: report.status },
  });
  const groups = sources.catalog.groupsOf(target.offer.id);
  const caps = verdict.countsAgainstCaps ? capCounts({ ...target, groups }, money) : [];
  const limit = verdict.countsAddress
    ? addressLimit(target, userIpOf(incoming) ?? click?.ip ?? "")
    : null;
  const plan = planOf(incoming, target, { hasClick: click !== undefined, caps, limit });
  return { row, plan, money, couponClick, coupon_click: wantedClick(incoming, couponClick) };
}

/** An ingress of a version before this one says no time: it waits for an answer for 7 s. */
const RECORDS_WITHIN_MS = 60_000;

function wantedClick(
  { request: { producer, recordsUntilMs, receivedAtMs } }: Incoming,
  click: CouponClick | undefined,
): Recording["coupon_click"] {
  if (click === undefined || producer === undefined) return undefined;
  return { click, producer, until_ms: recordsUntilMs ?? receivedAtMs + RECORDS_WITHIN_MS };
}

/** A test makes no click, and neither does a report whose sender could not record it. */
function couponClickOf(
  { catalog }: ReportSources,
  { report, request, origin }: Incoming,
  coupon: CouponCredit | undefined,
): CouponClick | undefined {
  const { producer, receivedAtMs } = request;
  if (coupon === undefined || producer === undefined || report.isTest) return undefined;
  const { offer, affiliate } = coupon;
  const parts = { atMs: receivedAtMs, shard: shardOfOffer(offer.id), producer };
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

/** The visitor's address, where the sender is the visitor or tells it (G102). */
function userIpOf({ report, request, origin }: Incoming): string | undefined {
  return origin.sender.kind === "pixel" ? request.ip : report.userIp;
}

/** Null where no check counts addresses, or none is known. Addresses are compared as the workspace keeps them. */
export function addressLimit(target: Target, ip: string): AddressLimit | null {
  const { duplicate_conv_ip: same = null, duplicate_conv_subnet24: near = null } =
    fraudChecksOf(target);
  const address = storedIp(ip, target.workspace.ip_storage);
  if (address === "" || (same === null && near === null)) return null;
  return { address, same_max: same, network_max: near };
}

function verdictOf(
  { catalog }: ReportSources,
  incoming: Incoming,
  target: Target,
  facts: {
    readonly id: string;
    readonly click: ClickRecord | undefined;
    readonly money: Money;
    readonly isClickIpCrowded: boolean;
  },
): Verdict {
  const { report, request, origin } = incoming;
  return judgeConversion({
    conversionId: facts.id,
    convTsMs: request.receivedAtMs,
    nowMs: request.receivedAtMs,
    click: facts.click,
    offer: target.offer,
    affiliate: target.affiliate,
    eventCode: target.event.code,
    method: methodOf(incoming),
    saleAmount: facts.money.saleAmount,
    rules: catalog.rulesOf(target.workspace.id),
    fraudChecks: fraudChecksOf(target),
    isClickIpCrowded: facts.isClickIpCrowded,
    // A pixel comes from the visitor's address, which is on no advertiser's list.
    isIpAllowed:
      origin.sender.kind === "pixel" ||
      isOnIpList(target.advertiser.postback_ip_allowlist, request.ip),
    givenStatus: report.status,
  });
}

function planOf(
  incoming: Incoming,
  target: Target,
  facts: {
    readonly hasClick: boolean;
    readonly caps: RecordPlan["caps"];
    readonly limit: AddressLimit | null;
  },
): RecordPlan {
  const { report, origin } = incoming;
  const isPixel = origin.sender.kind === "pixel";
  const isOnce = isOncePerClick(target);
  return {
    ...reactions(incoming),
    on_none: target.creationRefusal === undefined ? "insert" : "none",
    latest_of_click:
      !isPixel && !isOnce && report.status !== undefined && report.txid === undefined,
    may_be_multiple: facts.hasClick && !isOnce,
    caps: facts.caps,
    address_limit: facts.limit,
    timezone: target.workspace.timezone,
    actor: isPixel ? "pixel" : "postback",
    key_id: null,
  };
}

/** Whether a report about a row that is there changes it (G106). Pixels never do (G159). */
function reactions({ report, origin }: Incoming): { on_txid: OnRepeat; on_click: OnRepeat } {
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

import type { ClickRecord } from "../../schemas/events/click-record.ts";
import { capCounts } from "./cap-counts.ts";
import { computeMoney, type Money } from "./conversion-terms.ts";
import type { NewConversion, OnRepeat, RecordPlan } from "./conversions.ts";
import type { Incoming, ReportSources } from "./incoming-report.ts";
import { isOnIpList, storedIp } from "./ip-list.ts";
import { judgeConversion, type Verdict } from "./judge-conversion.ts";
import { isOncePerClick, newConversion, newConversionId } from "./new-conversion.ts";
import type { GivenMoney } from "./report-params.ts";
import { type Target, termsOf } from "./resolve-target.ts";

/** A new conversion as the report has it, and how to record it. */
export type Draft = {
  readonly row: NewConversion;
  readonly plan: RecordPlan;
  readonly money: Money;
};

type Facts = { readonly click: ClickRecord | undefined; readonly given: GivenMoney };

export function draftReport(
  sources: ReportSources,
  incoming: Incoming,
  target: Target,
  facts: Facts,
): Draft {
  const { report, request } = incoming;
  const { click, given } = facts;
  const id = newConversionId(sources.clock.nowMs());
  const terms = termsOf(sources.catalog, target);
  const money = computeMoney(terms, { ...given, saleAmount: given.saleAmount ?? 0n });
  const verdict = verdictOf(incoming, target, { id, click });
  const row = newConversion({
    id,
    target,
    click,
    terms,
    money,
    verdict,
    method: methodOf(incoming),
    convTsMs: request.receivedAtMs,
    txid: report.txid,
    convIp: storedIp(report.userIp ?? request.ip, target.workspace.ip_storage),
    params:
      report.couponCode === undefined
        ? report.params
        : { ...report.params, coupon_code: report.couponCode },
    emailHash: report.emailHash,
    phoneHash: report.phoneHash,
  });
  const caps = verdict.countsAgainstCaps ? capCounts(target.offer, target.advertiser, money) : [];
  return { row, plan: planOf(incoming, target, { hasClick: click !== undefined, caps }), money };
}

function verdictOf(
  { report, request, origin }: Incoming,
  target: Target,
  facts: { readonly id: string; readonly click: ClickRecord | undefined },
): Verdict {
  return judgeConversion({
    conversionId: facts.id,
    convTsMs: request.receivedAtMs,
    click: facts.click,
    offer: target.offer,
    affiliate: target.affiliate,
    fraudChecks: target.offer.fraud_checks ?? target.workspace.fraud_checks,
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
  facts: { readonly hasClick: boolean; readonly caps: RecordPlan["caps"] },
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

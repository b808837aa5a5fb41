import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { ConversionStatus } from "../../../schemas/events/conversion-words.ts";
import { SUB_IDS } from "../../../schemas/events/sub-ids.ts";
import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Target } from "../read/resolve-target.ts";
import type { NewConversion } from "../record/conversions.ts";
import type { Money, Terms } from "../report/conversion-terms.ts";
import type { Verdict } from "./judge-conversion.ts";

export type NewConversionParts = {
  readonly id: string;
  readonly target: Target;
  readonly click: ClickRecord | undefined;
  /** The click that the coupon creates, if any, and the tracking domain that reports group the conversion by. */
  readonly coupon?: { readonly clickId: string | undefined; readonly domain: string } | undefined;
  /** Sub IDs and source of a conversion without a click. */
  readonly clickValues?: Readonly<Record<string, string>>;
  readonly terms: Terms;
  readonly money: Money;
  readonly verdict: Verdict;
  readonly method: NewConversion["method"];
  readonly convTsMs: number;
  readonly txid: string | undefined;
  readonly convIp: string;
  readonly params: Readonly<Record<string, string>>;
  readonly notes?: string;
  readonly emailHash?: string | undefined;
  readonly phoneHash?: string | undefined;
  /** The report that creates the conversion, if any. */
  readonly reported?: {
    readonly fingerprint: string;
    readonly status: ConversionStatus | undefined;
  };
};

/** Fields that a conversion copies from its click, and that reports group by. */
const CLICK_FIELDS = [
  "domain",
  "link_type",
  "traffic_source",
  "source_id",
  ...SUB_IDS,
  "gclid",
  "gbraid",
  "wbraid",
  "msclkid",
  "fbclid",
  "ttclid",
  "ext_campaign_id",
  "ext_adgroup_id",
  "ext_ad_id",
  "ext_keyword",
  "ext_placement",
  "country",
  "region",
  "city",
  "device_type",
  "os",
  "browser",
] as const;

/** For a conversion that staff created. */
const UNREPORTED = { fingerprint: null, status: undefined };

/** The row of a new conversion, assuming that it is no repeat and under all caps. */
export function newConversion(parts: NewConversionParts): NewConversion {
  const { target, verdict, reported = UNREPORTED } = parts;
  const { workspace, offer, event, affiliate } = target;
  return {
    id: parts.id,
    workspace_id: workspace.id,
    offer_id: offer.id,
    affiliate_id: affiliate?.id ?? null,
    advertiser_id: offer.advertiser_id,
    event_id: event.id,
    event_code: event.code,
    is_private: event.is_private,
    status: verdict.status,
    status_reason: verdict.reason,
    is_duplicate: false,
    cap_alert: false,
    ...moneyColumns(parts),
    ...clickColumns(parts),
    ...txidColumns(parts),
    method: parts.method,
    conv_ts: isoTime(parts.convTsMs),
    hold_until: verdict.holdUntilMs === undefined ? null : isoTime(verdict.holdUntilMs),
    conv_ip: parts.convIp === "" ? null : parts.convIp,
    params: parts.params,
    notes: parts.notes ?? "",
    email_hash: parts.emailHash ?? null,
    phone_hash: parts.phoneHash ?? null,
    report_fingerprint: reported.fingerprint,
    asked_status: reported.status ?? null,
  };
}

/** Of what the order number is unique, the offer says (G220). */
function txidColumns({
  txid,
  target: { offer },
}: NewConversionParts): Pick<NewConversion, "adv_txid" | "holds_txid" | "holds_event_txid"> {
  if (txid === undefined) return { adv_txid: null, holds_txid: false, holds_event_txid: false };
  const isOfEvent = offer.txid_scope === "event";
  return { adv_txid: txid, holds_txid: !isOfEvent, holds_event_txid: isOfEvent };
}

type MoneyColumn =
  | "revenue"
  | "payout"
  | "sale_amount"
  | "currency"
  | "payout_type"
  | "payout_rate"
  | "payout_given"
  | "revenue_type"
  | "revenue_rate"
  | "revenue_given";

function moneyColumns({
  target,
  terms,
  money,
}: NewConversionParts): Pick<NewConversion, MoneyColumn> {
  return {
    revenue: formatAmount(money.revenue),
    payout: formatAmount(money.payout),
    sale_amount: formatAmount(money.saleAmount),
    currency: target.offer.currency,
    payout_type: terms.payoutType,
    payout_rate: formatAmount(terms.payoutRate),
    payout_given: money.payoutGiven,
    revenue_type: terms.revenueType,
    revenue_rate: formatAmount(terms.revenueRate),
    revenue_given: money.revenueGiven,
  };
}

type ClickColumn = "click_id" | "smart_link_id" | "click_ts" | "click" | "holds_click";

function clickColumns({
  target,
  click,
  clickValues,
  coupon,
  convTsMs,
}: NewConversionParts): Pick<NewConversion, ClickColumn> {
  if (click === undefined) {
    const ofCoupon = coupon === undefined ? {} : { link_type: "coupon", domain: coupon.domain };
    return {
      click_id: coupon?.clickId ?? null,
      smart_link_id: null,
      click_ts: coupon?.clickId === undefined ? null : isoTime(convTsMs),
      click: { ...ofCoupon, ...clickValues },
      holds_click: false,
    };
  }
  return {
    click_id: click.click_id,
    smart_link_id: click.smart_link_id === 0 ? null : click.smart_link_id,
    click_ts: isoTime(click.ts),
    click: valuesOf(click),
    holds_click: isOncePerClick(target),
  };
}

/** Whether a click can bring this event only once (G38, G107). */
export function isOncePerClick({ offer, event }: Pick<Target, "offer" | "event">): boolean {
  return offer.unique_per_click && !event.allow_multiple;
}

function valuesOf(click: ClickRecord): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of CLICK_FIELDS) {
    if (click[name] !== "") values[name] = click[name];
  }
  return values;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

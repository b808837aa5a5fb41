import type { ConversionStatus } from "../../../schemas/events/conversion-words.ts";
import type { ConversionChange } from "../record/change-by-report.ts";
import type { ConversionState } from "../record/conversions.ts";
import { computeMoney, type Money } from "../report/conversion-terms.ts";
import type { GivenMoney } from "../report/report-params.ts";
import { PARTNER_BLOCKED } from "./judge-conversion.ts";

/** The change that a later report asks for, with its money in the conversion's currency. */
export type RequestedChange = {
  readonly status: ConversionStatus | undefined;
  readonly money: GivenMoney;
  /** The report names the conversion by `conversion_id`, not by its order or click. */
  readonly namesConversion: boolean;
  /** Staff decide about conversions of a blocked or rejected partner (G233). */
  readonly isPartnerBlocked: boolean;
};

/**
 * The change that a later postback makes to a conversion; undefined when nothing changes (G109). Money is in the conversion's currency
 * and is computed by the terms that the conversion was recorded with (G108). Duplicates stay rejected (T06).
 */
export function decideChange(
  row: ConversionState,
  requested: RequestedChange,
): ConversionChange | undefined {
  if (row.is_duplicate) return undefined;
  const money = moneyAfter(row, requested.money);
  const isMoneyNew = isOtherMoney(row, money);
  const { status, reason, endsHold } = statusChange(row, requested);
  const isReasonNew = reason !== undefined && reason !== row.status_reason;
  if (status === row.status && !isReasonNew && !isMoneyNew && !endsHold) return undefined;
  return {
    status,
    // A change of money alone counts as a reversal, even if the amount rises.
    status_reason: reason ?? "postback_reversal",
    ...(endsHold ? { hold_until: null } : {}),
    revenue: money.revenue,
    payout: money.payout,
    sale_amount: money.saleAmount,
    payout_given: money.payoutGiven,
    revenue_given: money.revenueGiven,
  };
}

type StatusChange = {
  readonly status: ConversionStatus;
  /** Undefined if the status stays. */
  readonly reason: string | undefined;
  readonly endsHold: boolean;
};

/** A new status sets its own reason. */
function statusChange(row: ConversionState, requested: RequestedChange): StatusChange {
  const { status: asked, isPartnerBlocked } = requested;
  if (asked === "approved" && isPartnerBlocked && row.status !== "approved")
    return { status: "pending", reason: PARTNER_BLOCKED, endsHold: row.is_held };
  const status = statusAfter(row, requested);
  // The advertiser has not decided yet, so the end of the hold must not decide for it (G230).
  const endsHold = row.is_held && asked === "pending";
  const isNew = status !== row.status || endsHold;
  const reason = status === "rejected" ? "postback_reversal" : "postback_update";
  return { status, reason: isNew ? reason : undefined, endsHold };
}

/**
 * For a row without a fingerprint: whether this report may repeat the report that made the row. True if the row is unchanged, a check or a
 * hold stopped it, and the report only says "approved". A row whose visitor was forgotten has no fingerprint.
 */
export function mayBeRepeat(row: ConversionState, requested: RequestedChange): boolean {
  return (
    hasNoFingerprint(row) &&
    requested.status === "approved" &&
    !requested.namesConversion &&
    !UNSTOPPED.includes(row.status_reason) &&
    !isOtherMoney(row, moneyAfter(row, requested.money))
  );
}

/** Reasons of rows that were approved, or whose report did not say `approved`. */
const UNSTOPPED = ["", "multiple", "postback"];

function hasNoFingerprint(row: ConversionState): boolean {
  return row.report_fingerprint === null && row.method !== "api" && row.version === 1;
}

/**
 * A repeated `approved` ends no hold. A report ends it only if it names the conversion, or if the previous report had another status
 * (G198).
 */
function statusAfter(row: ConversionState, requested: RequestedChange): ConversionStatus {
  const isRepeated = row.asked_status === "approved" || hasNoFingerprint(row);
  const staysHeld =
    row.is_held && requested.status === "approved" && isRepeated && !requested.namesConversion;
  return staysHeld ? row.status : (requested.status ?? row.status);
}

function isOtherMoney(row: ConversionState, money: Money): boolean {
  return (
    money.saleAmount !== row.sale_amount ||
    money.payout !== row.payout ||
    money.revenue !== row.revenue
  );
}

/** Given amounts stay; computed amounts are computed again. */
function moneyAfter(row: ConversionState, given: GivenMoney): Money {
  const terms = {
    payoutType: row.payout_type,
    payoutRate: row.payout_rate,
    revenueType: row.revenue_type,
    revenueRate: row.revenue_rate,
  };
  return computeMoney(terms, {
    saleAmount: given.saleAmount ?? row.sale_amount,
    payout: given.payout ?? (row.payout_given ? row.payout : undefined),
    revenue: given.revenue ?? (row.revenue_given ? row.revenue : undefined),
  });
}

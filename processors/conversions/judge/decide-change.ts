import type { ConversionStatus, GivenMoney } from "../read/report-params.ts";
import type { ConversionChange } from "../record/change-by-report.ts";
import type { ConversionState } from "../record/conversions.ts";
import { computeMoney, type Money } from "./conversion-terms.ts";

/** What a later report asks for, with its money in the conversion's currency. */
export type Asked = {
  readonly status: ConversionStatus | undefined;
  readonly money: GivenMoney;
  /** By `conversion_id`, not by its order or click. */
  readonly namesConversion: boolean;
};

/**
 * What a later postback makes of a conversion; undefined when nothing changes (G109). Money is in the conversion's currency
 * and is computed by the terms it was recorded with (G108). Duplicates stay rejected (T06).
 */
export function decideChange(row: ConversionState, asked: Asked): ConversionChange | undefined {
  if (row.is_duplicate) return undefined;
  const money = moneyAfter(row, asked.money);
  const status = statusAfter(row, asked);
  const isMoneyNew = isOtherMoney(row, money);
  if (status === row.status && !isMoneyNew) return undefined;
  return {
    status,
    // A status that changes says why; money alone is a reversal, also when it rises.
    status_reason:
      status === row.status || status === "rejected" ? "postback_reversal" : "postback_update",
    revenue: money.revenue,
    payout: money.payout,
    sale_amount: money.saleAmount,
    payout_given: money.payoutGiven,
    revenue_given: money.revenueGiven,
  };
}

/**
 * Whether the report that made this row, which has no fingerprint, may have been the same as this one: the row is unchanged, a check
 * or a hold stopped it, and the report says no more than "approved". Rows are without a fingerprint if they are older than
 * migration 0016.
 */
export function mayBeUnknownRepeat(row: ConversionState, asked: Asked): boolean {
  return (
    isOfUnknownReport(row) &&
    asked.status === "approved" &&
    !asked.namesConversion &&
    !UNSTOPPED.includes(row.status_reason) &&
    !isOtherMoney(row, moneyAfter(row, asked.money))
  );
}

/** Reasons of rows that were approved, or whose report did not say `approved`. */
const UNSTOPPED = ["", "multiple", "postback"];

function isOfUnknownReport(row: ConversionState): boolean {
  return row.report_fingerprint === null && row.method !== "api" && row.version === 1;
}

/** `approved` said once more ends no hold: only a report that names the conversion, or said something else before (G198). */
function statusAfter(row: ConversionState, asked: Asked): ConversionStatus {
  const saidApproved = row.asked_status === "approved" || isOfUnknownReport(row);
  const staysHeld =
    row.is_held && asked.status === "approved" && saidApproved && !asked.namesConversion;
  return staysHeld ? row.status : (asked.status ?? row.status);
}

function isOtherMoney(row: ConversionState, money: Money): boolean {
  return (
    money.saleAmount !== row.sale_amount ||
    money.payout !== row.payout ||
    money.revenue !== row.revenue
  );
}

/** What was given before stays given, what was computed is computed again. */
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

import { computeMoney, type Money } from "./conversion-terms.ts";
import type { ConversionChange, ConversionState } from "./conversions.ts";
import type { ConversionStatus, GivenMoney } from "./report-params.ts";

/**
 * What a later postback makes of a conversion; undefined when nothing changes (G109). Money is in the conversion's currency
 * and is computed by the terms it was recorded with (G108). Duplicates stay rejected (T06).
 */
export function decideChange(
  row: ConversionState,
  asked: { readonly status: ConversionStatus | undefined; readonly money: GivenMoney },
): ConversionChange | undefined {
  if (row.is_duplicate) return undefined;
  const money = moneyAfter(row, asked.money);
  const status = asked.status ?? row.status;
  const isMoneyNew =
    money.saleAmount !== row.sale_amount ||
    money.payout !== row.payout ||
    money.revenue !== row.revenue;
  if (status === row.status && !isMoneyNew) return undefined;
  return {
    status,
    // A status that changes says why; money alone is a reversal, also when it rises (section 7.6).
    status_reason:
      status === row.status || status === "rejected" ? "postback_reversal" : "postback_update",
    revenue: money.revenue,
    payout: money.payout,
    sale_amount: money.saleAmount,
    payout_given: money.payoutGiven,
    revenue_given: money.revenueGiven,
  };
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

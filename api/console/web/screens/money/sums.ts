import { amountOf, formatAmount } from "../../../../../schemas/money/amount.ts";
import { formatMoney } from "../../format/money.ts";
import type { Statement } from "./statement.ts";

/** What statements come to, a sum for each currency: "€120.00 and $4.50". */
export function sumsText(rows: readonly Pick<Statement, "gross" | "currency">[]): string {
  const sums = new Map<string, bigint>();
  for (const { gross, currency } of rows)
    sums.set(currency, (sums.get(currency) ?? 0n) + amountOf(gross));
  const words = [...sums].map(([currency, sum]) => formatMoney(formatAmount(sum), currency));
  const last = words.pop() ?? "";
  return words.length === 0 ? last : `${words.join(", ")} and ${last}`;
}

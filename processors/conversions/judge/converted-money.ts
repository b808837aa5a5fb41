import { isCurrency } from "../../../schemas/money/currencies.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import {
  type ConvertedFor,
  type ExchangeRate,
  findExchangeRates,
} from "../../../schemas/postgres/exchange-rates.ts";
import type { Incoming } from "../read/incoming-report.ts";
import { malformed, type Refusal, withoutRate } from "../report/refusal.ts";
import { type GivenMoney, invalidAmount, type Report } from "../report/report-params.ts";
import { convertMoney, oversizedAmount } from "./convert-money.ts";

/** The amounts that this sender may set, and the fields that are ignored. Only the workspace's own token may set a payout (G111, G159). */
function applicableMoney({ report, origin }: Incoming): {
  money: GivenMoney;
  ignored: string[];
} {
  const { money, ignored } = report;
  if (origin.sender.kind === "workspace" || money.payout === undefined)
    return { money, ignored: [...ignored] };
  return { money: { ...money, payout: undefined }, ignored: [...ignored, "payout"] };
}

/** Where an amount is used, and the day of its rate. */
type ConvertedAt = ConvertedFor & { readonly atMs: number };

/**
 * The amounts that this sender may set, in the currency of the target, and the fields that are ignored. Refused without a usable rate,
 * and for an amount that is too large to be stored in that currency.
 */
export async function convertedMoney(
  sources: { readonly pool: Queryable },
  incoming: Incoming,
  target: ConvertedAt,
): Promise<{ money: GivenMoney; ignored: string[]; rate: ExchangeRate | undefined } | Refusal> {
  const rate = await rateFor(sources, incoming.report, target);
  if (rate !== undefined && "kind" in rate) return rate;
  const { money: given, ignored } = applicableMoney(incoming);
  const money = convertMoney(given, rate);
  const name = oversizedAmount(money);
  if (name === undefined) return { money, ignored, rate };
  return {
    ...malformed(invalidAmount(name === "sale_amount" ? "amount" : name)),
    details: { reason: `too large in ${target.currency}` },
  };
}

/**
 * The exchange rate of the report's currency. Undefined if the target has this currency already. A currency without a usable rate is our
 * fault and not the sender's: the report must be sent again (G221).
 */
export async function rateFor(
  sources: { readonly pool: Queryable },
  { currency }: Pick<Report, "currency">,
  target: ConvertedAt,
): Promise<ExchangeRate | undefined | Refusal> {
  if (currency === undefined || currency === target.currency) return undefined;
  const query = { currency, date: new Date(target.atMs).toISOString().slice(0, 10) };
  const [rate] = await findExchangeRates(sources.pool, [query], target);
  if (rate !== undefined) return rate;
  return isCurrency(currency)
    ? withoutRate(currency, target)
    : { ...malformed("invalid currency"), details: { reason: `${currency} is no currency` } };
}

import { type Amount, scaleAmount } from "../../schemas/money/amount.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { GivenMoney } from "./report-params.ts";

/** Units of the target currency for one of the source, as a fraction of two reference rates against EUR (G76). */
export type ExchangeRate = {
  readonly from: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
};

const RATE_DIGITS = 10;
const RATE_SCALE = 10n ** BigInt(RATE_DIGITS);
const BASE = "EUR";
/** A rate serves for its day and the seven after it. */
const USABLE_DAYS = 7;
const SHOWN_DIGITS = 6n;

/** The rate of the day, or the latest of the seven days before; undefined when either currency has none (G197). */
export async function findExchangeRate(
  db: Queryable,
  pair: { readonly from: string; readonly to: string; readonly atMs: number },
): Promise<ExchangeRate | undefined> {
  const { rows } = await db.query<{ currency: string; rate: string }>({
    name: "find-exchange-rate",
    text: `select distinct on (currency) currency, rate::text as rate from fx_rate
           where currency in ($1, $2) and date <= $3::date and date >= $3::date - $4::integer
           order by currency, date desc`,
    values: [pair.from, pair.to, new Date(pair.atMs).toISOString().slice(0, 10), USABLE_DAYS],
  });
  const perEur = new Map([
    [BASE, RATE_SCALE],
    ...rows.map(({ currency, rate }) => [currency, scaledRate(rate)] as const),
  ]);
  const numerator = perEur.get(pair.to);
  const denominator = perEur.get(pair.from);
  if (numerator === undefined || denominator === undefined) return undefined;
  return { from: pair.from, numerator, denominator };
}

/** Each amount is rounded once. */
export function convertMoney(given: GivenMoney, rate: ExchangeRate | undefined): GivenMoney {
  if (rate === undefined) return given;
  const convert = (amount: Amount | undefined): Amount | undefined =>
    amount === undefined ? undefined : scaleAmount(amount, rate.numerator, rate.denominator);
  return {
    saleAmount: convert(given.saleAmount),
    revenue: convert(given.revenue),
    payout: convert(given.payout),
  };
}

/** For a person to read: six places. */
export function formatRate(rate: ExchangeRate): string {
  const scaled = scaleAmount(10n ** SHOWN_DIGITS, rate.numerator, rate.denominator).toString();
  const padded = scaled.padStart(Number(SHOWN_DIGITS) + 1, "0");
  return `${padded.slice(0, -Number(SHOWN_DIGITS))}.${padded.slice(-Number(SHOWN_DIGITS))}`;
}

function scaledRate(stored: string): bigint {
  const [whole = "0", fraction = ""] = stored.split(".");
  return BigInt(whole) * RATE_SCALE + BigInt(fraction.padEnd(RATE_DIGITS, "0"));
}

import type { Queryable } from "./connect.ts";

/** Units of the target currency for one unit of the source currency, as a fraction of two reference rates against EUR (G76). */
export type ExchangeRate = {
  readonly from: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
};

/** The workspace whose rates apply, and the target currency. */
export type ConvertedFor = { readonly workspaceId: number; readonly currency: string };

/** The source currency, and the day of the rate, `YYYY-MM-DD`. */
export type DatedCurrency = { readonly currency: string; readonly date: string };

const RATE_DIGITS = 10;
const RATE_SCALE = 10n ** BigInt(RATE_DIGITS);
const BASE = "EUR";
/** A rate is valid for its day and the seven days after it. */
const USABLE_DAYS = 7;

/** Decimal text, null without a usable rate. */
type FoundRates = {
  readonly currency: string;
  readonly source: string | null;
  readonly target: string | null;
};

/**
 * Returns for each query, in order, the rate of the day or the latest one of the seven days before; undefined if either currency has no
 * rate (G76, G197). A usable rate of the workspace wins over any of the installation (G201). Money in calls and ad costs both use this
 * function.
 */
export async function findExchangeRates(
  db: Queryable,
  asked: readonly DatedCurrency[],
  { workspaceId, currency: to }: ConvertedFor,
): Promise<(ExchangeRate | undefined)[]> {
  if (asked.length === 0) return [];
  const { rows } = await db.query<FoundRates>({
    name: "find-exchange-rates",
    text: `select currency,
             coalesce(
               (select rate from workspace_fx_rate r where r.workspace_id = $5 and r.currency = asked.currency
                  and r.date <= asked.date and r.date >= asked.date - $4::integer order by r.date desc limit 1),
               (select rate from fx_rate r where r.currency = asked.currency and r.date <= asked.date
                  and r.date >= asked.date - $4::integer order by r.date desc limit 1)) as source,
             coalesce(
               (select rate from workspace_fx_rate r where r.workspace_id = $5 and r.currency = $3
                  and r.date <= asked.date and r.date >= asked.date - $4::integer order by r.date desc limit 1),
               (select rate from fx_rate r where r.currency = $3 and r.date <= asked.date
                  and r.date >= asked.date - $4::integer order by r.date desc limit 1)) as target
           from unnest($1::text[], $2::date[]) with ordinality as asked(currency, date, position)
           order by position`,
    values: [
      asked.map(({ currency }) => currency),
      asked.map(({ date }) => date),
      to,
      USABLE_DAYS,
      workspaceId,
    ],
  });
  return rows.map(({ currency, source, target }) => {
    const numerator = scaledRate(to, target);
    const denominator = scaledRate(currency, source);
    if (numerator === undefined || denominator === undefined) return undefined;
    return { from: currency, numerator, denominator };
  });
}

function scaledRate(currency: string, stored: string | null): bigint | undefined {
  if (currency === BASE) return RATE_SCALE;
  if (stored === null) return undefined;
  const [whole = "0", fraction = ""] = stored.split(".");
  return BigInt(whole) * RATE_SCALE + BigInt(fraction.padEnd(RATE_DIGITS, "0"));
}

import type { Queryable } from "../../schemas/postgres/connect.ts";
import { noteFeedFailed, noteFeedIsRead } from "../../schemas/postgres/fx-feed.ts";
import { parseReferenceRates, type ReferenceRate } from "./reference-rates.ts";

const TIMEOUT_MS = 30_000;
/** The whole history since 1999 is below 2 MB. */
const BODY_BYTES_MAX = 4 * 1024 ** 2;
const ROWS_PER_STATEMENT = 5_000;
const REASON_MAX = 200;

const TODO =
  "let this machine reach it, name a mirror by FX_FEED_URL, or set FX_FEED_URL=off and enter rates by tracker fx-rates set or POST /fx-rates; " +
  "until then reports in currencies without a rate are answered 503";

/**
 * Fetches the reference rates and stores them. Returns how many were read. Rates that staff entered stay (G76). The outcome is stored as
 * well (G221).
 * @throws if the feed cannot be read or contains no rate, with what to do; the stored rates stay in use.
 */
export async function refreshRates(
  db: Queryable,
  url: string,
  signal: AbortSignal,
): Promise<number> {
  // Not the whole URL: it may contain a key.
  const source = new URL(url).host;
  try {
    const rates = await storeRates(db, url, signal);
    const newestDay = rates.reduce((newest, { date }) => (date > newest ? date : newest), "");
    await noteFeedIsRead(db, { source, newestDay });
    return rates.length;
  } catch (cause) {
    if (signal.aborted) throw cause;
    const why = reasonOf(cause);
    await noteFeedFailed(db, { source, error: why });
    throw new Error(`the reference rates of ${source} cannot be read (${why}): ${TODO}`, { cause });
  }
}

/** A failed connection is described by the cause of the error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return (cause instanceof Error ? cause.message || error.message : error.message).slice(
    0,
    REASON_MAX,
  );
}

async function storeRates(
  db: Queryable,
  url: string,
  signal: AbortSignal,
): Promise<readonly ReferenceRate[]> {
  const rates = parseReferenceRates(await fetchText(url, signal));
  if (rates.length === 0) throw new Error("it contains no rate");
  for (let from = 0; from < rates.length; from += ROWS_PER_STATEMENT)
    await upsertRates(db, rates.slice(from, from + ROWS_PER_STATEMENT));
  return rates;
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, {
    headers: { accept: "application/xml, text/xml, text/csv" },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (!answer.ok || answer.body === null) {
    await answer.body?.cancel();
    throw new Error(`it answered HTTP ${answer.status}`);
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = answer.body.getReader();
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString("utf8");
    bytes += value.byteLength;
    if (bytes > BODY_BYTES_MAX) {
      await reader.cancel();
      throw new Error("it is too long");
    }
    chunks.push(value);
  }
}

/** If a day has several rates for a currency, the last one counts. */
async function upsertRates(db: Queryable, rates: readonly ReferenceRate[]): Promise<void> {
  const unique = new Map(rates.map((rate) => [`${rate.date} ${rate.currency}`, rate]));
  await db.query({
    name: "upsert-reference-rates",
    text: `insert into fx_rate (date, currency, rate, source)
           select r.date, r.currency, r.rate, 'feed'
           from jsonb_to_recordset($1::jsonb) as r(date date, currency text, rate numeric)
           order by r.currency, r.date
           on conflict (date, currency) do update
           set rate = excluded.rate, source = excluded.source, updated_at = clock_timestamp()
           where fx_rate.source <> 'manual' and fx_rate.rate <> excluded.rate`,
    values: [JSON.stringify([...unique.values()])],
  });
}

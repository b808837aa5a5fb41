import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import type { Intake } from "../intake/intake.ts";
import { SKEW_MS } from "../intake/present-time.ts";
import { readLine } from "../intake/read-line.ts";
import { selectClockReturns } from "./clock-returns.ts";
import type { UniqueClicks } from "./unique-clicks.ts";

/** UInt32, UInt32, UInt64, Int64 in RowBinary. */
const ROW_BYTES = 24;
const TIMEOUT_SECONDS = 120;
/** A statement that returns visits may take as much longer as they need at this rate. It waits while this process decodes them. */
const ROWS_PER_SECOND_MIN = 200_000;
/** Headers about the progress keep the client from giving up a statement that is still running. */
const SETTINGS = {
  max_execution_time: TIMEOUT_SECONDS,
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: "10000",
} as const;
/** Longest work without letting the event loop renew leases and answer look-ups. */
const TURN_MS = 10;
/** The newest unique click is looked for this far before the window, and only then in all months. */
const RECENT_MS = 31 * DAY_MS;
const Hour = z.object({ hour: z.int(), newest_ms: z.int(), visits: z.int() });
const HOUR_MS = 3_600_000;
const WORD = 2 ** 32;
const LINE_FEED = "\n";

/** Makes the uniqueness of an intake match the table and the accepted clicks that are not in it yet. */
export async function loadUniques(clickhouse: Clickhouse, intake: Intake): Promise<void> {
  const retentionMs = intake.uniqueWindowMsMax;
  const uniques = intake.emptyUniques(retentionMs);
  uniques.clocks = intake.clocksAt(performance.now());
  await loadStored(clickhouse, intake.lane, uniques, retentionMs);
  // No await from here on. Clicks that were accepted meanwhile are in the batches, with the uniqueness that the previous state gave them.
  for (const segment of intake.batches.flatMap((batch) => batch.segments)) {
    if (segment.isStored) continue;
    for (const line of segment.bytes.toString("latin1").split(LINE_FEED)) {
      const head = line.includes(',"is_unique":true,') ? readLine(line) : undefined;
      if (head !== undefined) uniques.remember(head, head.ts);
    }
  }
  intake.uniques = uniques;
}

/**
 * Fills `uniques` with the unique clicks of a lane that still count: those within `windowMs` before its newest click. So the state also
 * matches the table after an outage longer than the window. A click in the future does not count as the newest. It gets the time of its
 * producer's first click after the clock went back; if there is none, `uniques` uses the present time.
 */
async function loadStored(
  clickhouse: Clickhouse,
  lane: number,
  uniques: UniqueClicks,
  windowMs: number,
): Promise<void> {
  const { ownMs, newestMs } = uniques.clocks;
  const afterMs = newestMs + SKEW_MS;
  const window = { newestMs: ownMs + SKEW_MS, windowMs };
  const { fromMs, visits } = await findWindow(clickhouse, lane, window);
  const returns = await selectClockReturns(clickhouse, lane, { afterMs, windowMs });
  const atMs = "toUnixTimestamp64Milli(ts)";
  // ClickHouse refuses empty arrays.
  const isCorrected = returns.producers.length > 0;
  const corrected = `if(${atMs} > {afterMs: Int64},
    transform(_producer, {producers: Array(UInt16)}, {times: Array(Int64)}, ${atMs}), ${atMs})`;
  const result = await clickhouse.exec({
    // Grouping by visits would need more memory in ClickHouse than they need here.
    query: `select offer_id, affiliate_id, visitor, ${isCorrected ? corrected : atMs}
      from click
      where _lane = {lane: UInt8} and is_unique
        and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
      format RowBinary`,
    query_params: {
      lane,
      fromMs,
      afterMs,
      ...(isCorrected ? returns : {}),
    },
    clickhouse_settings: {
      ...SETTINGS,
      max_execution_time: TIMEOUT_SECONDS + Math.ceil(visits / ROWS_PER_SECOND_MIN),
    },
  });
  await loadRows(uniques, result.stream);
}

async function loadRows(uniques: UniqueClicks, chunks: AsyncIterable<unknown>): Promise<void> {
  const turn = new Turn();
  uniques.beginLoading();
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue;
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const end = bytes.length - (bytes.length % ROW_BYTES);
    loadBytes(uniques, bytes, end);
    rest = bytes.subarray(end);
    if (uniques.mustSettle) await settle(uniques, turn);
    await turn.end();
  }
  if (rest.length > 0) throw new Error("ClickHouse ended its answer in the middle of a row");
  await settle(uniques, turn);
}

async function settle(uniques: UniqueClicks, turn: Turn): Promise<void> {
  for (const _step of uniques.settle()) await turn.end();
}

/** Lets the event loop do its other work after each turn of at least `TURN_MS`. */
class Turn {
  #beganMs = performance.now();

  async end(): Promise<void> {
    if (performance.now() - this.#beganMs < TURN_MS) return;
    await setImmediate();
    this.#beganMs = performance.now();
  }
}

/**
 * The windows of a lane begin `windowMs` before its newest unique click that is not in the future, UTC ms. `visits` is how many unique
 * clicks there are since then, to an hour.
 */
async function findWindow(
  clickhouse: Clickhouse,
  lane: number,
  { newestMs, windowMs }: { readonly newestMs: number; readonly windowMs: number },
): Promise<{ readonly fromMs: number; readonly visits: number }> {
  for (const sinceMs of [newestMs - windowMs - RECENT_MS, 0]) {
    const answer = await clickhouse.query({
      query: `select intDiv(toUnixTimestamp64Milli(ts), {hourMs: UInt32}) as hour,
          toUnixTimestamp64Milli(max(ts)) as newest_ms, count() as visits
        from click
        where _lane = {lane: UInt8} and is_unique and ts > fromUnixTimestamp64Milli({sinceMs: Int64}, 'UTC')
          and ts <= fromUnixTimestamp64Milli({newestMs: Int64}, 'UTC')
        group by hour`,
      query_params: { lane, hourMs: HOUR_MS, sinceMs: Math.max(0, sinceMs), newestMs },
      format: "JSONEachRow",
      clickhouse_settings: SETTINGS,
    });
    const hours = z.array(Hour).parse(await answer.json());
    if (hours.length === 0) continue;
    const fromMs = Math.max(...hours.map(({ newest_ms: ms }) => ms)) - windowMs;
    const visits = hours
      .filter(({ hour }) => (hour + 1) * HOUR_MS > fromMs)
      .reduce((sum, of) => sum + of.visits, 0);
    return { fromMs, visits };
  }
  return { fromMs: newestMs, visits: 0 };
}

/** Loads the rows up to `end`. */
function loadBytes(uniques: UniqueClicks, bytes: Buffer, end: number): void {
  const visit = { offerId: 0, affiliateId: 0, visitor: 0 };
  for (let at = 0; at < end; at += ROW_BYTES) {
    visit.offerId = bytes.readUInt32LE(at);
    visit.affiliateId = bytes.readUInt32LE(at + 4);
    // Numbers are exact up to 53 bits. A visitor has at most 52, and times are after 1970.
    visit.visitor = bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * WORD;
    uniques.load(visit, bytes.readUInt32LE(at + 16) + bytes.readUInt32LE(at + 20) * WORD);
  }
}

import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import type { Intake } from "../intake/intake.ts";
import type { LaneRows } from "../lane/lane-rows.ts";
import type { LaneShare } from "../rows/lane-share.ts";
import { SKEW_MS } from "../rows/present-time.ts";
import { readLine } from "../rows/read-line.ts";
import { type ClockReturns, selectClockReturns } from "../visits/clock-returns.ts";
import type { UniqueClicks } from "../visits/unique-clicks.ts";

/** UInt32, UInt32, UInt64, Int64 in RowBinary. */
const ROW_BYTES = 24;
const ROW_WORDS = ROW_BYTES / 4;
const ROWS_AT_ONCE = 4_096;
/** A visitor has at most 52 bits. In the text of an error, these bytes would be letters. */
const VISITOR_HIGH_MAX = 2 ** 20 - 1;
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

type OfferRows = LaneShare & { readonly lane: number };

/** Rows of the lane's offers, also in lanes from which the lane was split. */
const OF_SHARE = "_lane in {sources: Array(UInt8)} and offer_id % {lanes: UInt8} = {lane: UInt8}";

function parametersOf({ lane, lanes, sources }: OfferRows): Record<string, unknown> {
  return { lane, lanes: lanes.count, sources };
}

/** Makes the uniqueness of an intake match the table and the accepted clicks that are not in it yet. */
export async function loadUniques(
  rows: Pick<LaneRows, "everywhere" | "assertWhole">,
  intake: Intake,
): Promise<void> {
  const retentionMs = intake.uniqueWindowMsMax;
  const uniques = intake.emptyUniques(retentionMs);
  uniques.clocks = intake.clocksAt(performance.now());
  const share = { lane: intake.lane, ...intake.share };
  await loadStored(rows, share, { uniques, windowMs: retentionMs });
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
  rows: Pick<LaneRows, "everywhere" | "assertWhole">,
  share: OfferRows,
  { uniques, windowMs }: { readonly uniques: UniqueClicks; readonly windowMs: number },
): Promise<void> {
  const window = { newestMs: uniques.clocks.ownMs + SKEW_MS, windowMs };
  const servers = await rows.everywhere();
  const clickhouses = servers.map(({ clickhouse }) => clickhouse);
  const { fromMs, visits } = await findWindow(clickhouses, share, window);
  // If no click was found, all clicks may be on a shard that does not answer.
  await rows.assertWhole(servers, share.sources, visits === 0 ? 0 : fromMs);
  uniques.beginLoading(visits);
  const turn = new Turn();
  for (const clickhouse of clickhouses) {
    const answer = await selectVisits(clickhouse, share, { uniques, windowMs, fromMs, visits });
    await loadRows(uniques, answer, turn);
  }
  await settle(uniques, turn);
}

/** The visits of one server since `fromMs`, in RowBinary. */
async function selectVisits(
  clickhouse: Clickhouse,
  share: OfferRows,
  of: {
    readonly uniques: UniqueClicks;
    readonly windowMs: number;
    readonly fromMs: number;
    readonly visits: number;
  },
): Promise<AsyncIterable<unknown>> {
  const { windowMs, fromMs, visits } = of;
  const afterMs = of.uniques.clocks.newestMs + SKEW_MS;
  // Positions of several lanes cannot be compared: then a visit in the future counts as of the present time.
  const returns: ClockReturns =
    share.sources.length > 1
      ? { producers: [], times: [] }
      : await selectClockReturns(clickhouse, share.lane, { afterMs, windowMs });
  const atMs = "toUnixTimestamp64Milli(ts)";
  // ClickHouse refuses empty arrays.
  const isCorrected = returns.producers.length > 0;
  const corrected = `if(${atMs} > {afterMs: Int64},
    transform(_producer, {producers: Array(UInt16)}, {times: Array(Int64)}, ${atMs}), ${atMs})`;
  const { stream } = await clickhouse.exec({
    // Grouping by visits would need more memory in ClickHouse than they need here.
    query: `select offer_id, affiliate_id, visitor, ${isCorrected ? corrected : atMs}
      from ${allShards(clickhouse, "click")}
      where ${OF_SHARE} and is_unique
        and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
      format RowBinary`,
    query_params: {
      ...parametersOf(share),
      fromMs,
      afterMs,
      ...(isCorrected ? returns : {}),
    },
    clickhouse_settings: {
      ...SETTINGS,
      max_execution_time: TIMEOUT_SECONDS + Math.ceil(visits / ROWS_PER_SECOND_MIN),
    },
  });
  return stream;
}

/**
 * Loads rows of RowBinary: offer, partner, visitor, UTC ms. Loading must have begun, and the caller settles it. @throws {Error} for an answer that
 * ClickHouse did not finish: it may write the reason where the next row would be.
 */
export async function loadRows(
  uniques: UniqueClicks,
  chunks: AsyncIterable<unknown>,
  turn = new Turn(),
): Promise<void> {
  const rows = new RowBytes();
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue;
    for (let at = 0; at < chunk.length; ) {
      at += rows.take(chunk, at);
      loadWords(uniques, rows.words, rows.whole);
      rows.dropWhole();
      if (uniques.mustSettle) await settle(uniques, turn);
      await turn.end();
    }
  }
  if (rows.length > 0) throw new Error("ClickHouse ended its answer in the middle of a row");
}

/** Bytes of rows at an address that can be read as words: a chunk may begin anywhere in a row. */
class RowBytes {
  readonly #bytes = new Uint8Array(ROW_BYTES * ROWS_AT_ONCE);
  readonly words = new Uint32Array(this.#bytes.buffer);
  length = 0;

  /** Copies from `chunk` what there is room for. Returns how many bytes. */
  take(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.#bytes, this.length, from);
    this.length += copied;
    return copied;
  }

  /** Number of whole rows. */
  get whole(): number {
    return Math.floor(this.length / ROW_BYTES);
  }

  dropWhole(): void {
    const used = this.whole * ROW_BYTES;
    this.#bytes.copyWithin(0, used, this.length);
    this.length -= used;
  }
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
  servers: readonly Clickhouse[],
  share: OfferRows,
  { newestMs, windowMs }: { readonly newestMs: number; readonly windowMs: number },
): Promise<{ readonly fromMs: number; readonly visits: number }> {
  for (const sinceMs of [newestMs - windowMs - RECENT_MS, 0]) {
    const hours: z.infer<typeof Hour>[] = [];
    for (const clickhouse of servers)
      hours.push(...(await selectHours(clickhouse, share, { newestMs, sinceMs })));
    if (hours.length === 0) continue;
    const fromMs = Math.max(...hours.map(({ newest_ms: ms }) => ms)) - windowMs;
    const visits = hours
      .filter(({ hour }) => (hour + 1) * HOUR_MS > fromMs)
      .reduce((sum, part) => sum + part.visits, 0);
    return { fromMs, visits };
  }
  return { fromMs: newestMs, visits: 0 };
}

/** The hours of one server that have unique clicks of the lane between these times, UTC ms. */
async function selectHours(
  clickhouse: Clickhouse,
  share: OfferRows,
  { newestMs, sinceMs }: { readonly newestMs: number; readonly sinceMs: number },
): Promise<z.infer<typeof Hour>[]> {
  const answer = await clickhouse.query({
    query: `select intDiv(toUnixTimestamp64Milli(ts), {hourMs: UInt32}) as hour,
        toUnixTimestamp64Milli(max(ts)) as newest_ms, count() as visits
      from ${allShards(clickhouse, "click")}
      where ${OF_SHARE} and is_unique and ts > fromUnixTimestamp64Milli({sinceMs: Int64}, 'UTC')
        and ts <= fromUnixTimestamp64Milli({newestMs: Int64}, 'UTC')
      group by hour`,
    query_params: {
      ...parametersOf(share),
      hourMs: HOUR_MS,
      sinceMs: Math.max(0, sinceMs),
      newestMs,
    },
    format: "JSONEachRow",
    clickhouse_settings: SETTINGS,
  });
  return z.array(Hour).parse(await answer.json());
}

/** The words of a row are in the order of its bytes, as on every processor that Node runs on. */
function loadWords(uniques: UniqueClicks, words: Uint32Array, rows: number): void {
  const visit = { offerId: 0, affiliateId: 0, visitor: 0 };
  for (let at = 0; at < rows * ROW_WORDS; at += ROW_WORDS) {
    const high = words[at + 3] ?? 0;
    if (high > VISITOR_HIGH_MAX) throw new Error("ClickHouse broke its answer off");
    visit.offerId = words[at] ?? 0;
    visit.affiliateId = words[at + 1] ?? 0;
    // Numbers are exact up to 53 bits. Times are after 1970.
    visit.visitor = (words[at + 2] ?? 0) + high * WORD;
    uniques.load(visit, (words[at + 4] ?? 0) + (words[at + 5] ?? 0) * WORD);
  }
}

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
/** Headers about the progress keep the client from giving up a statement that is still running. */
const SETTINGS = {
  max_execution_time: 120,
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: "10000",
} as const;
/** The newest unique click is looked for this far before the window, and only then in all months. */
const RECENT_MS = 31 * DAY_MS;
const Newest = z.object({ newest_ms: z.int() });
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
  const fromMs = await windowBeginMs(clickhouse, lane, { newestMs: ownMs + SKEW_MS, windowMs });
  const returns = await selectClockReturns(clickhouse, lane, { afterMs, windowMs });
  const atMs = "toUnixTimestamp64Milli(ts)";
  // ClickHouse refuses empty arrays.
  const isCorrected = returns.producers.length > 0;
  const corrected = `if(${atMs} > {afterMs: Int64},
    transform(_producer, {producers: Array(UInt16)}, {times: Array(Int64)}, ${atMs}), ${atMs})`;
  const result = await clickhouse.exec({
    query: `select offer_id, affiliate_id, visitor, max(${isCorrected ? corrected : atMs})
      from click
      where _lane = {lane: UInt8} and is_unique
        and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
      group by offer_id, affiliate_id, visitor
      format RowBinary`,
    query_params: {
      lane,
      fromMs,
      afterMs,
      ...(isCorrected ? returns : {}),
    },
    clickhouse_settings: SETTINGS,
  });
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of result.stream) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? Buffer.concat([rest, chunk]) : rest;
    const rows = Math.floor(bytes.length / ROW_BYTES);
    for (let row = 0; row < rows; row += 1) rememberRow(uniques, bytes, row * ROW_BYTES);
    rest = bytes.subarray(rows * ROW_BYTES);
  }
  if (rest.length > 0) throw new Error("ClickHouse ended its answer in the middle of a row");
}

/** `windowMs` before the newest unique click of the lane that is not in the future, UTC ms. */
async function windowBeginMs(
  clickhouse: Clickhouse,
  lane: number,
  { newestMs, windowMs }: { readonly newestMs: number; readonly windowMs: number },
): Promise<number> {
  for (const fromMs of [newestMs - windowMs - RECENT_MS, 0]) {
    const answer = await clickhouse.query({
      query: `select toUnixTimestamp64Milli(max(ts)) as newest_ms from click
        where _lane = {lane: UInt8} and is_unique and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
          and ts <= fromUnixTimestamp64Milli({newestMs: Int64}, 'UTC')`,
      query_params: { lane, fromMs: Math.max(0, fromMs), newestMs },
      format: "JSONEachRow",
      clickhouse_settings: SETTINGS,
    });
    const [newest] = z.array(Newest).parse(await answer.json());
    // The maximum of no rows is 0.
    if (newest !== undefined && newest.newest_ms > 0) return newest.newest_ms - windowMs;
  }
  return newestMs;
}

function rememberRow(uniques: UniqueClicks, bytes: Buffer, at: number): void {
  const visit = {
    offerId: bytes.readUInt32LE(at),
    affiliateId: bytes.readUInt32LE(at + 4),
    // At most 52 bits, so a number is exact.
    visitor: Number(bytes.readBigUInt64LE(at + 8)),
  };
  uniques.remember(visit, Number(bytes.readBigInt64LE(at + 16)));
}

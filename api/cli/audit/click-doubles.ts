import { z } from "zod";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { IMPRESSION_LANE } from "../../../schemas/events/lanes.ts";

/** One sequence of positions. */
type Sequence = { readonly lane: number; readonly producer: number; readonly epoch: number };

/** Rows deleted by one statement. */
const ROWS_MAX = 5_000;
/** A million rows: more than a frozen writer can have stored again, so a person should look at it. */
const ROUNDS_MAX = 200;
/** Above this, ClickHouse sorts on disk. */
const SPILL_BYTES = 500_000_000;
const SETTINGS = { max_bytes_before_external_group_by: String(SPILL_BYTES) } as const;
const GONE_WHEN_ANSWERED = { mutations_sync: "2" } as const;

const Doubles = z.array(z.object({ part: z.string(), offset: z.int() }));

/**
 * All but the first row of each position that is stored more than once with the same content. Two different clicks at one position are
 * left alone: nobody can tell which was answered.
 */
const CLICK_DOUBLES = `
  select part, offset from (
    select _part as part, _part_offset as offset,
      row_number() over (partition by _position order by inserted_at, _part, _part_offset) as copy
    from click
    where _lane = {lane: UInt8} and _producer = {producer: UInt16} and _epoch = {epoch: UInt32} and _position in (
      select _position from click
      where _lane = {lane: UInt8} and _producer = {producer: UInt16} and _epoch = {epoch: UInt32}
      group by _position having count() > 1 and uniqExact(click_id) = 1 limit {rows: UInt32}))
  where copy > 1 limit {rows: UInt32}`;

const IMPRESSION_DOUBLES = `
  select part, offset from (
    select _part as part, _part_offset as offset,
      row_number() over (partition by _position order by inserted_at, _part, _part_offset) as copy
    from impression
    where _lane = {lane: UInt8} and _producer = {producer: UInt16} and _epoch = {epoch: UInt32} and _position in (
      select _position from impression
      where _lane = {lane: UInt8} and _producer = {producer: UInt16} and _epoch = {epoch: UInt32}
      group by _position having count() > 1 and uniqExact(ts, offer_id, affiliate_id, creative_id) = 1 limit {rows: UInt32}))
  where copy > 1 limit {rows: UInt32}`;

/**
 * Names rows by part and offset: if ClickHouse merges a part in the meantime, the statement deletes nothing of it, and the next round
 * finds its rows again.
 */
const DELETE_CLICKS =
  "alter table click delete where (_part, _part_offset) in arrayZip({parts: Array(String)}, {offsets: Array(UInt64)})";
const DELETE_IMPRESSIONS =
  "alter table impression delete where (_part, _part_offset) in arrayZip({parts: Array(String)}, {offsets: Array(UInt64)})";

/** Deletes the second copies of rows that are stored twice. Returns how many it named. Safe to repeat, and to break off. */
export async function deleteDoubles(
  clickhouse: Clickhouse,
  sequences: readonly Sequence[],
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const sequence of sequences) {
    const isClick = sequence.lane !== IMPRESSION_LANE;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      signal.throwIfAborted();
      const answer = await clickhouse.query({
        query: isClick ? CLICK_DOUBLES : IMPRESSION_DOUBLES,
        query_params: { ...sequence, rows: ROWS_MAX },
        format: "JSONEachRow",
        clickhouse_settings: SETTINGS,
      });
      const doubles = Doubles.parse(await answer.json());
      if (doubles.length === 0) break;
      await clickhouse.command({
        query: isClick ? DELETE_CLICKS : DELETE_IMPRESSIONS,
        query_params: {
          parts: doubles.map(({ part }) => part),
          offsets: doubles.map(({ offset }) => offset),
        },
        clickhouse_settings: GONE_WHEN_ANSWERED,
      });
      deleted += doubles.length;
    }
  }
  return deleted;
}

import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";

const TIMEOUT_SECONDS = 60;

const Ahead = z.object({ producer: z.int(), epoch: z.int(), position: z.int() });
const Return = z.object({ producer: z.int(), at_ms: z.int() });

/** When the clocks of a lane's producers were correct again. Both arrays have the same order; times are UTC ms. */
export type ClockReturns = { readonly producers: number[]; readonly times: number[] };

/**
 * Finds each producer with clicks on this server later than `afterMs`, which is in the future, and the time of its first click after those.
 * A producer's positions are in the order in which it answered, so it answered the clicks of the future before that time. A producer
 * without a later click within `windowMs` is left out.
 */
export async function selectClockReturns(
  clickhouse: Clickhouse,
  lane: number,
  { afterMs, windowMs }: { readonly afterMs: number; readonly windowMs: number },
): Promise<ClockReturns> {
  // Reads nothing if no part has a later click: each part knows its newest time.
  const ahead = z.array(Ahead).parse(
    await (
      await clickhouse.query({
        query: `select _producer as producer, max((_epoch, _position)) as last, last.1 as epoch, last.2 as position
          from ${allShards(clickhouse, "click")} where _lane = {lane: UInt8} and ts > fromUnixTimestamp64Milli({afterMs: Int64}, 'UTC')
          group by _producer`,
        query_params: { lane, afterMs },
        format: "JSONEachRow",
        clickhouse_settings: { max_execution_time: TIMEOUT_SECONDS },
      })
    ).json(),
  );
  if (ahead.length === 0) return { producers: [], times: [] };
  const answer = await clickhouse.query({
    // The click of a coupon has the time of its report, which may have waited for hours.
    query: `select _producer as producer, toUnixTimestamp64Milli(argMin(ts, (_epoch, _position))) as at_ms
      from ${allShards(clickhouse, "click")}
      where _lane = {lane: UInt8} and _producer in {producers: Array(UInt16)} and link_type != 'coupon'
        and ts > fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC') and ts <= fromUnixTimestamp64Milli({afterMs: Int64}, 'UTC')
        and (_epoch, _position) > (
          transform(_producer, {producers: Array(UInt16)}, {epochs: Array(UInt32)}, toUInt32(0)),
          transform(_producer, {producers: Array(UInt16)}, {positions: Array(UInt64)}, toUInt64(0)))
      group by _producer`,
    query_params: {
      lane,
      afterMs,
      fromMs: afterMs - windowMs,
      producers: ahead.map(({ producer }) => producer),
      epochs: ahead.map(({ epoch }) => epoch),
      positions: ahead.map(({ position }) => position),
    },
    format: "JSONEachRow",
    clickhouse_settings: { max_execution_time: TIMEOUT_SECONDS },
  });
  const returns = z.array(Return).parse(await answer.json());
  return {
    producers: returns.map(({ producer }) => producer),
    times: returns.map(({ at_ms: atMs }) => atMs),
  };
}

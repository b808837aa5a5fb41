import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import { PositionSet, type Range } from "../rows/position-set.ts";

/** The stored positions of one producer. */
export type StoredPositions = {
  readonly producer: number;
  readonly epoch: number;
  readonly count: number;
  readonly last: number;
};

const Group = z.object({ producer: z.int(), epoch: z.int(), count: z.int(), last: z.int() });
const Gap = z.object({ from: z.int(), to: z.int() });
/** If one sequence has more gaps than this, the cause is not lost messages. */
const GAPS_MAX = 100_000;

/** Served by the projection `positions`: reads one row for each part and producer, however large the table is. */
export const POSITIONS_QUERY = `
  select _producer as producer, _epoch as epoch, count() as count, max(_position) as last
  from TABLE where _lane = {lane: UInt8} group by _lane, _producer, _epoch`;

/** The stored positions of all producers of a lane. A client of one node of a cluster reads the positions that this node has. */
export async function selectStoredPositions(
  clickhouse: Clickhouse,
  table: LaneTable,
  lane: number,
): Promise<StoredPositions[]> {
  const answer = await clickhouse.query({
    query: POSITIONS_QUERY.replace("TABLE", allShards(clickhouse, table.name)),
    query_params: { lane },
    format: "JSONEachRow",
  });
  return z.array(Group).parse(await answer.json());
}

/**
 * The positions of one producer that are in the table of this server or in `others`. The query for gaps reads all rows of the producer, so it
 * runs only if the number of rows shows a gap.
 */
export async function storedSet(
  clickhouse: Clickhouse,
  source: { readonly table: LaneTable; readonly lane: number; readonly stored: StoredPositions },
  others: PositionSet = new PositionSet(),
): Promise<PositionSet> {
  const { stored } = source;
  const end = stored.last + 1;
  const isWhole = stored.count === end - others.sizeBelow(end);
  const set = new PositionSet(end, isWhole ? [] : await selectGaps(clickhouse, source));
  for (const [from, to] of others.ranges) set.add(from, to);
  return set;
}

async function selectGaps(
  clickhouse: Clickhouse,
  source: { readonly table: LaneTable; readonly lane: number; readonly stored: StoredPositions },
): Promise<Range[]> {
  const answer = await clickhouse.query({
    query: `select before as from, _position as to from (
        select _position, lagInFrame(_position + 1, 1, 0) over (order by _position
          rows between 1 preceding and current row) as before
        from ${allShards(clickhouse, source.table.name)}
        where _lane = {lane: UInt8} and _producer = {producer: UInt16} and _epoch = {epoch: UInt32}
          and _position <= {last: UInt64})
      where _position > before order by from limit ${GAPS_MAX + 1}`,
    query_params: {
      lane: source.lane,
      producer: source.stored.producer,
      epoch: source.stored.epoch,
      // An insert that is undecided may be committed between the two queries.
      last: source.stored.last,
    },
    format: "JSONEachRow",
  });
  const gaps = z.array(Gap).parse(await answer.json());
  if (gaps.length > GAPS_MAX) {
    throw new Error(`lane ${source.lane} has over ${GAPS_MAX} gaps: look at the click table`);
  }
  return gaps.map(({ from, to }): Range => [from, to]);
}

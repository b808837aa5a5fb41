import { z } from "zod";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { PositionSet, Range } from "../rows/position-set.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";

/** The positions of one producer that a lane had stored on a shard when it left it. */
export type LeftPositions = {
  readonly shard: string;
  readonly producer: number;
  readonly epoch: number;
  readonly ranges: readonly Range[];
};

const Left = z.object({
  shard: z.string(),
  producer: z.int(),
  epoch: z.int(),
  ranges: z.array(z.tuple([z.int(), z.int()])),
});

/** Notes where the new rows of a lane go. @throws {LeaseLostError} */
export async function noteShard(
  db: Queryable,
  { lane, owner, epoch }: LaneLease,
  shard: string,
): Promise<void> {
  const { rowCount } = await db.query({
    name: "note-lane-shard",
    text: "update lane_lease set shard = $4 where lane = $1 and owner = $2 and epoch = $3",
    values: [lane, owner, epoch, shard],
  });
  if (rowCount === 0) throw new LeaseLostError(`lane ${lane} has another writer`);
}

/** What the lane had stored on the shards that it has left. */
export async function readLeftPositions(db: Queryable, lane: number): Promise<LeftPositions[]> {
  const { rows } = await db.query({
    name: "read-left-positions",
    text: `select l.shard, l.producer, l.epoch, l.ranges from click_left_shard l
           join lane_lease using (lane)
           where lane = $1 and l.shard is distinct from lane_lease.shard order by producer, epoch, l.shard`,
    values: [lane],
  });
  return z.array(Left).parse(rows);
}

/**
 * Moves a lane whose last insert is decided: from then on its rows go to the shard `to`. `stored` are the positions that it has on the shard
 * `from`. Returns whether the lane has moved: not if it has another writer, or shall not move there any more.
 */
export async function noteMove(
  db: Queryable,
  { lane, owner, epoch }: LaneLease,
  move: {
    readonly from: string;
    readonly to: string;
    readonly stored: readonly {
      readonly producer: number;
      readonly epoch: number;
      readonly positions: PositionSet;
    }[];
  },
): Promise<boolean> {
  const { from, to, stored } = move;
  const { rows } = await db.query({
    name: "note-lane-move",
    text: `with moved as (
             update lane_lease set shard = move_to, move_to = null, intent = null, home = null
             where lane = $1 and owner = $2 and epoch = $3 and shard = $4 and move_to = $5 returning lane),
           noted as (
             insert into click_left_shard (lane, shard, producer, epoch, ranges)
             select lane, $4, p.producer, p.epoch, p.ranges::jsonb
             from moved, unnest($6::int[], $7::bigint[], $8::text[]) as p (producer, epoch, ranges)
             on conflict (lane, shard, producer, epoch) do update
               set ranges = excluded.ranges, left_at = excluded.left_at)
           select lane from moved`,
    values: [
      lane,
      owner,
      epoch,
      from,
      to,
      stored.map((one) => one.producer),
      stored.map((one) => one.epoch),
      stored.map(({ positions }) => JSON.stringify(positions.ranges)),
    ],
  });
  return rows.length > 0;
}

/** Forgets an order to move to the shard where the lane is. */
export async function dropMove(db: Queryable, { lane }: LaneLease, to: string): Promise<void> {
  await db.query({
    name: "drop-lane-move",
    text: "update lane_lease set move_to = null where lane = $1 and move_to = $2 and shard = $2",
    values: [lane, to],
  });
}

/** Shards that may have rows of these lanes that were stored since a time, UTC ms. */
export async function readShardsSince(
  db: Queryable,
  lanes: readonly number[],
  sinceMs: number,
): Promise<string[]> {
  const { rows } = await db.query<{ shard: string }>({
    name: "read-lane-shards",
    text: `select shard from lane_lease where lane = any ($1::int[]) and shard is not null
           union
           select shard from click_left_shard
           where lane = any ($1::int[]) and left_at >= to_timestamp($2::float8 / 1000)`,
    values: [lanes, Math.max(0, sinceMs)],
  });
  return rows.map(({ shard }) => shard);
}

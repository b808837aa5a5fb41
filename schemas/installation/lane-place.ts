import type { Queryable } from "../postgres/connect.ts";

/** The shards of a lane in a ClickHouse cluster. Both are null on a server alone. */
export type LanePlace = {
  /** Its new rows go there. Null until the lane is opened for the first time. */
  readonly shard: string | null;
  /** An operator moves it there. */
  readonly moveTo: string | null;
};

/** Undefined for a lane that does not exist. */
export async function readPlace(db: Queryable, lane: number): Promise<LanePlace | undefined> {
  const { rows } = await db.query<LanePlace>({
    name: "read-lane-place",
    text: `select shard, move_to as "moveTo" from lane_lease where lane = $1`,
    values: [lane],
  });
  return rows[0];
}

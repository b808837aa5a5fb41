import { Lanes } from "../../../schemas/events/lanes.ts";
import { pause } from "../../../schemas/host/pause.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { LaneShare } from "../rows/lane-share.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";

const LOOK_MS = 100;

type Row = { readonly lane: number; readonly lanes: number; readonly parent: number | null };

/**
 * Reads the share of a lane. Undefined for an added lane while its parent still has the offers of the lane. `count` is the number of lanes of
 * the installation.
 */
export async function readShare(
  db: Queryable,
  lane: number,
  count: number,
): Promise<LaneShare | undefined> {
  const { rows } = await db.query<Row>({
    name: "read-lane-shares",
    text: "select lane, lanes, parent from lane_lease where lane < 100",
  });
  const byLane = new Map(rows.map((row) => [row.lane, row]));
  const asked = byLane.get(lane);
  if (asked === undefined) throw new Error(`lane ${lane} has no row in lane_lease`);
  const isLeft = asked.parent === null || (byLane.get(asked.parent)?.lanes ?? 0) >= count;
  if (asked.lanes === 0 && !isLeft) return undefined;
  return {
    lanes: new Lanes(asked.lanes === 0 ? count : asked.lanes),
    sources: sourcesOf(byLane, lane),
  };
}

/**
 * Reads which offers a lane has. A lane that was added waits for its parent, and notes that it has not to wait again.
 * @throws {LeaseLostError} also when `closing` ends the wait.
 */
export async function takeShare(
  { pool, catalog, log }: Pick<LaneDeps, "pool" | "catalog" | "log">,
  lease: LaneLease,
  closing: AbortSignal,
): Promise<LaneShare> {
  for (;;) {
    const share = await readShare(pool, lease.lane, catalog.lanes.count);
    if (share !== undefined) {
      await noteShare(pool, lease, share.lanes);
      return share;
    }
    log.debug({ lane: lease.lane }, "clicks.lane-waits-for-its-parent");
    await pause(LOOK_MS, closing);
    if (closing.aborted) throw new LeaseLostError(`lane ${lease.lane} was given back`);
  }
}

/** A parent has a lower number than its lanes, so this ends. */
function sourcesOf(byLane: ReadonlyMap<number, Row>, lane: number): number[] {
  const sources = [lane];
  for (
    let parent = byLane.get(lane)?.parent ?? null;
    parent !== null && parent < (sources.at(-1) ?? 0);
  ) {
    sources.push(parent);
    parent = byLane.get(parent)?.parent ?? null;
  }
  return sources;
}

/**
 * Notes that the lane has only the offers that `lanes` assign to it. From then on every owner of the lane treats clicks on other offers as not
 * unique, and the lanes that have them open. @throws {LeaseLostError}
 */
export async function noteShare(
  db: Queryable,
  { lane, owner, epoch }: LaneLease,
  lanes: Lanes,
): Promise<void> {
  const { rowCount } = await db.query({
    name: "note-lane-share",
    text: "update lane_lease set lanes = $4 where lane = $1 and owner = $2 and epoch = $3",
    values: [lane, owner, epoch, lanes.count],
  });
  if (rowCount === 0) throw new LeaseLostError(`lane ${lane} has another writer`);
}

import type { Log } from "../../../schemas/host/log.ts";
import { readPlace } from "../../../schemas/installation/lane-place.ts";
import { dropMove, noteMove } from "./lane-place.ts";
import type { LaneRows, RowsOf } from "./lane-rows.ts";
import { selectStoredPositions, storedSet } from "./stored-positions.ts";

const LOOK_MS = 1_000;
/** Time between two attempts. */
const RETRY_MS = 5_000;

type MoveOptions = RowsOf & { readonly rows: LaneRows; readonly log: Log };

/**
 * Moves a lane to another shard of ClickHouse when an operator asks for it. No row moves: new ones go to the other shard. In this order:
 * 1. the last insert is decided, and every replica of the old shard that answers has all rows of the lane, so that each of them gives exact
 *    answers from then on;
 * 2. one statement in Postgres notes what the lane has on the old shard, and its new shard. It also removes the last intent, which would be
 *    settled on the wrong shard;
 * 3. the lane opens its new home.
 * A crash before 2 leaves everything as it was; after 2, the next owner begins with 3. An insert that an earlier owner left on the old shard
 * was decided before, so its rows are dropped there however late it arrives.
 */
export class LaneMove {
  readonly #options: MoveOptions;
  #lookAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MoveOptions) {
    this.#options = options;
  }

  /**
   * Moves the lane, if it shall move. Call it between two inserts, when the last one is decided. Returns whether the lane must open its new
   * home now. @throws what Postgres throws: then it is unknown whether the lane has moved
   */
  async advance(): Promise<boolean> {
    const { rows, pool, lease, log } = this.#options;
    const from = rows.home.shard;
    const nowMs = performance.now();
    if (from === null || nowMs < this.#lookAtMs) return false;
    this.#lookAtMs = nowMs + LOOK_MS;
    const to = await this.#target();
    if (to === null) return false;
    if (to === from) {
      await dropMove(pool, lease, to);
      return false;
    }
    const stored = await this.#prepare(from, to);
    if (stored === undefined || !(await noteMove(pool, lease, { from, to, stored }))) return false;
    lease.forgetIntent();
    log.info({ from, to, producers: stored.length }, "clicks.lane-moved");
    return true;
  }

  /** Null also while Postgres is away: the lane goes on where it is. */
  async #target(): Promise<string | null> {
    const { pool, lease, log } = this.#options;
    try {
      return (await readPlace(pool, lease.lane))?.moveTo ?? null;
    } catch (error) {
      this.#lookAtMs = performance.now() + RETRY_MS;
      log.warn({ err: error }, "clicks.lane-place-not-read");
      return null;
    }
  }

  /** The positions on the old shard, when both shards are ready; undefined while they are not. */
  async #prepare(
    from: string,
    to: string,
  ): Promise<Parameters<typeof noteMove>[2]["stored"] | undefined> {
    const { homes, lease, rows, table, log, signal } = this.#options;
    const { lane } = lease;
    try {
      if (!(await homes.hasShard(to))) throw new Error(`no node of shard ${to} answers`);
      await homes.settleShard(from, table.name, signal);
      const { clickhouse } = rows.home;
      const stored = [];
      for (const one of await selectStoredPositions(clickhouse, table, lane)) {
        const positions = await storedSet(clickhouse, { table, lane, stored: one });
        stored.push({ producer: one.producer, epoch: one.epoch, positions });
      }
      return stored;
    } catch (error) {
      this.#lookAtMs = performance.now() + RETRY_MS;
      log.warn({ err: error, from, to }, "clicks.lane-not-moved");
      return undefined;
    }
  }
}

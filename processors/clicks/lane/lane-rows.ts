import { shardOf } from "../../../schemas/clickhouse/node-directory.ts";
import { readPlace } from "../../../schemas/installation/lane-place.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { DAY_MS } from "../../../schemas/time/zone.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import type { Home, LaneHomes, ShardServer } from "./home.ts";
import type { LaneLease } from "./lane-lease.ts";
import { noteShard, readShardsSince } from "./lane-place.ts";

/** The clock of a producer may be this far ahead of the clock that noted when a lane left a shard. */
const CLOCK_MARGIN_MS = DAY_MS;

/** A lane, and what is needed to find its rows. */
export type RowsOf = {
  readonly homes: LaneHomes;
  readonly pool: Pool;
  readonly lease: LaneLease;
  readonly table: LaneTable;
  readonly signal: AbortSignal;
};

/** Where the rows of a lane are: at its home, and in a cluster also on shards that it, or a lane from which it was split, has left. */
export class LaneRows {
  readonly #deps: RowsOf;
  #home: Home | undefined;

  constructor(deps: RowsOf) {
    this.#deps = deps;
  }

  /** Finds the home of the lane. @throws {LeaseLostError} and what {@link LaneHomes.open} throws. */
  async open(): Promise<Home> {
    const { homes, pool, lease, table, signal } = this.#deps;
    const { lane, lastIntent } = lease;
    const place = await readPlace(pool, lane);
    if (place === undefined) throw new Error(`lane ${lane} has no row in lane_lease`);
    const lastHome = lastIntent?.home ?? null;
    // An intent can only be settled on its shard. An earlier release may have left it on another shard than the lane's.
    const shard = lastHome === null ? place.shard : shardOf(lastHome);
    const home = await homes.open({ lane, table: table.name, shard, lastHome }, signal);
    if (home.shard !== place.shard && home.shard !== null) await noteShard(pool, lease, home.shard);
    this.#home = home;
    return home;
  }

  get home(): Home {
    if (this.#home === undefined) throw new Error("the lane is not open");
    return this.#home;
  }

  /** The home, and a server of each other shard that is ready. */
  async everywhere(): Promise<readonly ShardServer[]> {
    const { homes, table, signal } = this.#deps;
    const { shard, clickhouse } = this.home;
    const others = await homes.elsewhere(this.home, table.name, signal);
    return [{ shard: shard ?? "", clickhouse }, ...others];
  }

  /**
   * Checks that these servers have all rows of these lanes with a time after `sinceMs`, UTC ms. @throws while a shard that may have such
   * rows does not answer
   */
  async assertWhole(
    servers: readonly ShardServer[],
    lanes: readonly number[],
    sinceMs: number,
  ): Promise<void> {
    if (this.home.layout === "single") return;
    const needed = await readShardsSince(this.#deps.pool, lanes, sinceMs - CLOCK_MARGIN_MS);
    const away = needed.filter((shard) => !servers.some((server) => server.shard === shard));
    if (away.length > 0)
      throw new Error(
        `ClickHouse shard ${away.join(", ")} does not answer, and may have clicks that count`,
      );
  }
}

import { homeName } from "../../../schemas/clickhouse/cluster.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { LaneTable } from "./lane-table.ts";

/** The ClickHouse server where a lane is written, and read exactly. */
export type Home = {
  /** `<shard>-<replica>`; null for a server alone. */
  readonly name: string | null;
  readonly clickhouse: Clickhouse;
  /** In a cluster, rows that this replica has may still be lost with it, until others have confirmed them. */
  readonly layout: "single" | "cluster";
};

/** Refuses a home on another shard than that of the last insert: the positions of a lane are only exact on the shard that has its rows. */
export function assertSameShard(home: Pick<Home, "name">, last: string | null | undefined): void {
  if (home.name === null || last === null || last === undefined) return;
  const shard = shardOf(last);
  if (shardOf(home.name) !== shard)
    throw new Error(
      `the rows of this lane are on shard ${shard}, and this process writes to ${home.name}: name a node of shard ${shard} first in its CLICKHOUSE_URL`,
    );
}

/**
 * Makes a server the home of a lane. A replica then has every row of the lane that was acknowledged before: an earlier owner may have written
 * to another one. Call it after the epoch was raised, so that no older owner's next insert is acknowledged later. @throws while it cannot.
 */
export async function openHome(
  clickhouse: Clickhouse,
  table: LaneTable["name"],
  signal: AbortSignal,
): Promise<Home> {
  if (clickhouse.cluster === undefined) return { name: null, clickhouse, layout: "single" };
  for (const replicated of [table, "producer_claim"]) {
    await clickhouse.command({
      query: `system sync replica ${replicated} lightweight`,
      abort_signal: signal,
    });
  }
  return { name: (await homeName(clickhouse)) ?? null, clickhouse, layout: "cluster" };
}

function shardOf(home: string): string {
  return home.slice(0, home.indexOf("-"));
}

import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { clickhouseCode } from "../../../schemas/clickhouse/errors.ts";
import type { Producers } from "../intake/producers.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import { sizeOf } from "../rows/position-set.ts";
import type { ShardServer } from "./home.ts";
import type { LeftPositions } from "./lane-place.ts";
import { selectStoredPositions } from "./stored-positions.ts";

export type AuditResult = {
  /** Rows of the lane over all time, and how many there should be. */
  readonly rows: number;
  readonly rowsExpected: number;
  /** Producers with more or fewer rows than their positions require. */
  readonly differing: readonly {
    producer: number;
    epoch: number;
    rows: number;
    expected: number;
  }[];
  /** Clicks of the last hour, and the number of their distinct ids. Both are 0 for impressions, which have no ids. */
  readonly recent: number;
  readonly recentIds: number;
};

const Recent = z.object({ clicks: z.int(), ids: z.int() });
const SECONDS_MAX = 5;
const TIMEOUT_EXCEEDED = "159";

/**
 * Compares the table with the positions that this writer knows, while nothing is being inserted. `lost` positions are settled but have
 * no row. Compares positions over all time, from the projection, and click ids over the last hour. The audit runs every minute, so it
 * checks the id of each click sixty times. A shard that the lane has left and that is not ready counts as it was noted then.
 */
export async function auditLane(
  from: { readonly servers: readonly ShardServer[]; readonly left: readonly LeftPositions[] },
  target: { readonly table: LaneTable; readonly lane: number },
  producers: Producers,
  lostOf: (producer: number, epoch: number) => number,
): Promise<AuditResult> {
  const stored = new Map<string, number>();
  const add = (producer: number, epoch: number, count: number): void => {
    const key = `${producer}.${epoch}`;
    stored.set(key, (stored.get(key) ?? 0) + count);
    // Adds producers that have rows but were never read, so that the loop below reports them.
    producers.get(producer, epoch);
  };
  for (const { clickhouse } of from.servers)
    for (const row of await selectStoredPositions(clickhouse, target.table, target.lane))
      add(row.producer, row.epoch, row.count);
  for (const { shard, producer, epoch, ranges } of from.left)
    if (!from.servers.some((server) => server.shard === shard))
      add(producer, epoch, sizeOf(ranges));
  let [rows, rowsExpected] = [0, 0];
  const differing: AuditResult["differing"][number][] = [];
  for (const { producer, epoch, settled } of producers.all()) {
    const count = stored.get(`${producer}.${epoch}`) ?? 0;
    const expected = settled.size - lostOf(producer, epoch);
    rows += count;
    rowsExpected += expected;
    if (count !== expected) differing.push({ producer, epoch, rows: count, expected });
  }
  const recent = { clicks: 0, ids: 0 };
  for (const { clickhouse } of from.servers) {
    const { clicks, ids } = await countRecent(clickhouse, target);
    recent.clicks += clicks;
    recent.ids += ids;
  }
  return { rows, rowsExpected, differing, recent: recent.clicks, recentIds: recent.ids };
}

async function countRecent(
  clickhouse: Clickhouse,
  { table, lane }: { readonly table: LaneTable; readonly lane: number },
): Promise<z.infer<typeof Recent>> {
  if (table.name !== "click") return { clicks: 0, ids: 0 };
  try {
    const answer = await clickhouse.query({
      query: `select count() as clicks, uniqExact(click_id) as ids from ${allShards(clickhouse, "click")}
        where _lane = {lane: UInt8} and ts > now64(3) - toIntervalHour(1)`,
      query_params: { lane },
      format: "JSONEachRow",
      clickhouse_settings: { max_execution_time: SECONDS_MAX },
    });
    const [row] = z.array(Recent).parse(await answer.json());
    return row ?? { clicks: 0, ids: 0 };
  } catch (error) {
    // The query takes too long for an audit every minute. The positions were compared, which is sufficient.
    if (clickhouseCode(error) === TIMEOUT_EXCEEDED) return { clicks: 0, ids: 0 };
    throw error;
  }
}

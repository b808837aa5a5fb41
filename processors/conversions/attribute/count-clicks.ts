import { z } from "zod";
import { tableOn } from "../../../schemas/clickhouse/all-shards.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { aggregateFromQuorum } from "../../../schemas/clickhouse/read-quorum.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { ClickSources } from "./find-click.ts";

type Sources = Pick<ClickSources, "clickhouse">;

const DAY_MS = 86_400_000;
const WAIT_MS = 2_000;
const POLL_MS = 100;
/** Replicas of a shard have the same clicks. */
const COUNTED = `uniqExactArray(found) as clicks,
  max(has(found, tuple(toFixedString(unhex({clickId: String}), 16)))) as seen`;
const Count = z.object({ clicks: z.int(), seen: z.int() });

/**
 * Whether the address of the click brought more than `clicksMax` clicks on its offer in the 24 hours up to `atMs` (G101). "away" when
 * ClickHouse cannot answer. Clicks are stored in order, so once the row of a young click is stored, all clicks before it are; the
 * function waits at most 2 s for that row. False without a click, an address or a limit.
 */
export async function isClickIpCrowded(
  sources: Sources,
  click: ClickRecord | undefined,
  limit: { readonly clicksMax: number | null | undefined; readonly atMs: number },
): Promise<boolean | "away"> {
  const { clicksMax, atMs } = limit;
  if (click === undefined || click.ip === "" || clicksMax === null || clicksMax === undefined)
    return false;
  return await countUntilKnown(sources, click, { clicksMax, atMs });
}

async function countUntilKnown(
  sources: Sources,
  click: ClickRecord,
  limit: { readonly clicksMax: number; readonly atMs: number },
): Promise<boolean | "away"> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const count = await countClicks(sources, click, limit);
    if (count !== undefined && count.clicks > limit.clicksMax) return true;
    // The row of a click from an earlier day is not in the counted range, so do not wait for it.
    if (count !== undefined && (count.seen > 0 || limit.atMs - click.ts >= DAY_MS)) return false;
    if (performance.now() >= deadlineMs) return "away";
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Stops counting at the limit, so an address with a million clicks costs no more than one just above the limit. */
async function countClicks(
  { clickhouse }: Sources,
  click: ClickRecord,
  { clicksMax, atMs }: { readonly clicksMax: number; readonly atMs: number },
): Promise<z.infer<typeof Count> | undefined> {
  const { cluster } = clickhouse;
  const rowsMax = Math.max(0, clicksMax) + 1;
  const ids = `select click_id from ${tableOn(cluster, "click")}
                     where workspace_id = {workspaceId: UInt32} and offer_id = {offerId: UInt32} and ip = {ip: String}
                       and ts > fromUnixTimestamp64Milli({fromMs: Int64})
                     limit {rowsMax: UInt32}`;
  const statement = {
    name: "conversions.count-clicks-of-ip",
    params: {
      clickId: click.click_id,
      workspaceId: click.workspace_id,
      offerId: click.offer_id,
      ip: click.ip,
      fromMs: atMs - DAY_MS,
      rowsMax,
    },
    timeoutMs: WAIT_MS,
  };
  try {
    if (cluster !== undefined)
      return await aggregateFromQuorum(
        clickhouse,
        { ...statement, select: ids, columns: ["click_id"], aggregates: COUNTED, rowsMax },
        Count,
      );
    const text = `select count() as clicks, countIf(click_id = unhex({clickId: String})) as seen
               from (${ids})`;
    const [count] = await selectRows(clickhouse, { ...statement, text }, Count);
    return count;
  } catch (error) {
    if (isClickhouseAway(error)) return undefined;
    throw error;
  }
}

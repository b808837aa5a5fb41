import { z } from "zod";
import { onEachReplica, tableOn } from "../../../schemas/clickhouse/all-shards.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { ClickSources } from "./find-click.ts";

const DAY_MS = 86_400_000;
const WAIT_MS = 2_000;
const POLL_MS = 100;
const Count = z.object({ clicks: z.int(), seen: z.int() });

/**
 * Whether the address of the click brought more than `clicksMax` clicks on its offer in the 24 hours up to `atMs` (G101). "away" when
 * ClickHouse cannot answer. Clicks are stored in order, so once the row of a young click is stored, all clicks before it are; the
 * function waits at most 2 s for that row. False without a click, an address or a limit.
 */
export async function isClickIpCrowded(
  sources: ClickSources,
  click: ClickRecord | undefined,
  limit: { readonly clicksMax: number | null | undefined; readonly atMs: number },
): Promise<boolean | "away"> {
  const { clicksMax, atMs } = limit;
  if (click === undefined || click.ip === "" || clicksMax === null || clicksMax === undefined)
    return false;
  return await countUntilKnown(sources, click, { clicksMax, atMs });
}

async function countUntilKnown(
  sources: ClickSources,
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
  { clickhouse }: ClickSources,
  click: ClickRecord,
  { clicksMax, atMs }: { readonly clicksMax: number; readonly atMs: number },
): Promise<z.infer<typeof Count> | undefined> {
  const { cluster } = clickhouse;
  const ids = `select click_id from ${tableOn(cluster, "click")}
                     where workspace_id = {workspaceId: UInt32} and offer_id = {offerId: UInt32} and ip = {ip: String}
                       and ts > fromUnixTimestamp64Milli({fromMs: Int64})
                     limit {rowsMax: UInt32}`;
  // Each replica of a shard has the same clicks.
  const from =
    cluster === undefined ? ids : `select distinct click_id from ${onEachReplica(cluster, ids)}`;
  try {
    const [count] = await selectRows(
      clickhouse,
      {
        name: "conversions.count-clicks-of-ip",
        text: `select count() as clicks, countIf(click_id = unhex({clickId: String})) as seen
               from (${from})`,
        params: {
          clickId: click.click_id,
          workspaceId: click.workspace_id,
          offerId: click.offer_id,
          ip: click.ip,
          fromMs: atMs - DAY_MS,
          rowsMax: Math.max(0, clicksMax) + 1,
        },
        timeoutMs: WAIT_MS,
      },
      Count,
    );
    return count;
  } catch (error) {
    if (isClickhouseAway(error)) return undefined;
    throw error;
  }
}

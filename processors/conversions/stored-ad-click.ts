import { z } from "zod";
import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import type { AdClickIdKind } from "../../schemas/events/click-query.ts";
import type { ClickRecord } from "../../schemas/events/click-record.ts";
import { orderInMillisecondSql } from "../../schemas/ids/click-id.ts";
import { selectClicks, selectUnlessAway } from "./select-clicks.ts";

export type StoredAdSearch = {
  readonly kind: AdClickIdKind;
  readonly value: string;
  readonly workspaceIds: readonly number[];
  /** Its clicks go first; 0 when no offer was named (G113). */
  readonly offerId: number;
};

const Latest = z.object({ at_ms: z.int() });

/** The order of G113 as far as the offer decides it. */
const BY_OFFER =
  "(click.offer_id > 0 and click.offer_id = {offerId: UInt32}) desc, click.offer_id > 0 desc";

/**
 * The click of ClickHouse that G113 puts first: one or none; "away" when ClickHouse cannot answer in time. First its time, from the
 * projection `latest_by_<kind>`, which has one row for all clicks with the same ID and offer; then the row at
 * that time. So an ID that is on millions of clicks is found by reading as much as one that is on a single click.
 */
export async function selectLatestAdClick(
  clickhouse: ClickhouseReader,
  { kind, value, workspaceIds, offerId }: StoredAdSearch,
): Promise<readonly ClickRecord[] | "away"> {
  const isAdClick = `click.workspace_id in {workspaceIds: Array(UInt32)} and click.${kind} = {value: String}`;
  const params = { workspaceIds, value, offerId };
  const times = await selectUnlessAway(clickhouse, Latest, {
    text: `select toUnixTimestamp64Milli(max(click.ts)) as at_ms from click where ${isAdClick}
      group by click.offer_id order by ${BY_OFFER}, max(click.ts) desc limit 1`,
    params,
    // Weighing all projections against each other takes as long as reading this one.
    settings: { preferred_optimize_projection_name: `latest_by_${kind}` },
  });
  if (times === "away") return "away";
  const [latest] = times;
  if (latest === undefined) return [];
  const clicks = await selectClicks(clickhouse, {
    where: `${isAdClick} and click.ts = fromUnixTimestamp64Milli({atMs: Int64}, 'UTC')`,
    order: `order by ${BY_OFFER}, ${orderInMillisecondSql("click.click_id")} desc limit 1`,
    params: { ...params, atMs: latest.at_ms },
  });
  // It was erased between the two statements: an older one may be the latest now.
  return clicks.length === 0 ? "away" : clicks;
}

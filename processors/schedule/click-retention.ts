import { z } from "zod";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import { PERSONAL_COLUMNS } from "../../schemas/erasure/personal-fields.ts";
import { DAY_MS } from "../../schemas/time/zone.ts";

/**
 * Columns that describe the visitor and that no report groups by. They are erased when a click's retention is over. Everything that
 * reports and late conversions need stays: ids, offer, partner, location, device, campaign, sub IDs and money.
 */
const ERASED: Readonly<Record<string, "''" | "0">> = {
  ...PERSONAL_COLUMNS,
  visitor: "0",
  ext_matchtype: "''",
  ext_network: "''",
  ext_device: "''",
  ext_device_model: "''",
  ext_target_id: "''",
  ext_loc_physical: "''",
  ext_loc_interest: "''",
  ext_feed_item_id: "''",
  ext_ad_position: "''",
};

const Month = z.object({ month: z.string().regex(/^\d{6}$/) });
const Mutation = z.object({ id: z.string(), reason: z.string() });

/** ClickHouse refused the erasure, or it keeps failing. */
class ErasingFailedError extends Error {
  override readonly name = "ErasingFailedError";
}

/**
 * Begins to erase the oldest month in which every click is older than `days`. Returns the number of months begun, 0 or 1. Only one
 * month at a time, because ClickHouse rewrites the columns of a whole partition. A click that arrives late in an erased month makes the
 * month due again. A repeat changes nothing. @throws {ErasingFailedError}
 */
export async function eraseOldClicks(
  clickhouse: Clickhouse,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<number> {
  const [running] = await selectRows(
    clickhouse,
    {
      name: "processors.click-erasing",
      text: `select mutation_id as id, latest_fail_reason as reason from system.mutations
        where database = currentDatabase() and table = 'click' and not is_done limit 1`,
    },
    Mutation,
  );
  if (running !== undefined) {
    if (running.reason !== "") throw new ErasingFailedError(`${running.id}: ${running.reason}`);
    return 0;
  }
  const columns = Object.entries(ERASED);
  const [oldest] = await selectRows(
    clickhouse,
    {
      name: "processors.click-retention",
      text: `select distinct _partition_id as month from click
        where toYYYYMM(ts) < toYYYYMM(fromUnixTimestamp64Milli({before:Int64}, 'UTC'))
          and (${columns.map(([name, empty]) => `${name} != ${empty}`).join(" or ")})
        order by month limit 1`,
      params: { before: nowMs - days * DAY_MS },
    },
    Month,
  );
  if (oldest === undefined) return 0;
  await clickhouse.command({
    query: `alter table click update ${columns.map(([name, empty]) => `${name} = ${empty}`).join(", ")}
      in partition id {month:String} where 1`,
    query_params: { month: oldest.month },
    clickhouse_settings: { mutations_sync: "0" },
  });
  return 1;
}

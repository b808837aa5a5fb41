import { z } from "zod";
import { allShards, onCluster, systemTable } from "../../schemas/clickhouse/all-shards.ts";
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

const Month = z.object({ month: z.string().regex(/^\d{6}$/), parts: z.string() });
const Row = z.object({ found: z.int() });
const Mutation = z.object({ id: z.string(), reason: z.string() });

/** A month without anything to erase is read completely. */
const MONTH_TIMEOUT_MS = 25_000;

/** ClickHouse refused the erasure, or it keeps failing. */
class ErasingFailedError extends Error {
  override readonly name = "ErasingFailedError";
}

/** Months without anything to erase, with the parts that they had then. A late click adds a part. */
export type ErasedMonths = Map<string, string>;

/**
 * Begins to erase the oldest month in which every click is older than `days`. Returns the number of months begun, 0 or 1. Only one
 * month at a time, because ClickHouse rewrites the columns of a whole partition. A click that arrives late in an erased month makes the
 * month due again. A repeat changes nothing, and reads no month of `erased` again. @throws {ErasingFailedError}
 */
export async function eraseOldClicks(
  clickhouse: Clickhouse,
  {
    days,
    nowMs,
    erased,
  }: { readonly days: number; readonly nowMs: number; readonly erased: ErasedMonths },
): Promise<number> {
  const [running] = await selectRows(
    clickhouse,
    {
      name: "processors.click-erasing",
      text: `select mutation_id as id, latest_fail_reason as reason from ${systemTable(clickhouse, "mutations")}
        where database = currentDatabase() and table = 'click' and not is_done limit 1`,
    },
    Mutation,
  );
  if (running !== undefined) {
    if (running.reason !== "") throw new ErasingFailedError(`${running.id}: ${running.reason}`);
    return 0;
  }
  // Two shards may have parts of the same name.
  const partName = clickhouse.cluster === undefined ? "name" : "_shard_num, name";
  const months = await selectRows(
    clickhouse,
    {
      name: "processors.click-months",
      text: `select partition_id as month, toString(groupBitXor(cityHash64(${partName}))) as parts from ${systemTable(clickhouse, "parts")}
        where database = currentDatabase() and table = 'click' and active
          and month < toString(toYYYYMM(fromUnixTimestamp64Milli({before:Int64}, 'UTC')))
        group by month order by month`,
      params: { before: nowMs - days * DAY_MS },
    },
    Month,
  );
  for (const { month, parts } of months) {
    if (erased.get(month) === parts) continue;
    if (await hasPersonalData(clickhouse, month)) {
      await eraseMonth(clickhouse, month);
      return 1;
    }
    erased.set(month, parts);
  }
  return 0;
}

async function hasPersonalData(clickhouse: Clickhouse, month: string): Promise<boolean> {
  const isFilled = Object.entries(ERASED).map(([name, empty]) => `${name} != ${empty}`);
  const rows = await selectRows(
    clickhouse,
    {
      name: "processors.click-retention",
      text: `select 1 as found from ${allShards(clickhouse, "click")} where _partition_id = {month:String} and (${isFilled.join(" or ")}) limit 1`,
      params: { month },
      timeoutMs: MONTH_TIMEOUT_MS,
    },
    Row,
  );
  return rows.length > 0;
}

async function eraseMonth(clickhouse: Clickhouse, month: string): Promise<void> {
  const changes = Object.entries(ERASED).map(([name, empty]) => `${name} = ${empty}`);
  await clickhouse.command({
    query: `alter table click${onCluster(clickhouse)} update ${changes.join(", ")} in partition id {month:String} where 1`,
    query_params: { month },
    clickhouse_settings: { mutations_sync: "0" },
  });
}

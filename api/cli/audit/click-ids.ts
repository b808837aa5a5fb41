import { z } from "zod";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { HOUR_MS } from "../../../schemas/time/zone.ts";
import { count } from "../../workspace/system/status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

const Hours = z.array(z.object({ hour: z.int(), clicks: z.int() }));
const Doubles = z.array(z.object({ id: z.string(), rows: z.int() }));
const DOUBLES_SHOWN = 5;
/** Above this, ClickHouse counts on disk. */
const SPILL_BYTES = 500_000_000;
const PROGRESS_HOURS = 24;

/**
 * Each click id is stored once. An id contains its time, so clicks are compared hour by hour: a busy hour fits into memory.
 */
export async function auditClickIds(context: AuditContext): Promise<Finding> {
  const { stores, scope, terminal, signal } = context;
  const hours = await readHours(stores.clickhouse, scope.sinceMs);
  const details: string[] = [];
  let clicks = 0;
  for (const [index, { hour, clicks: inHour }] of hours.entries()) {
    signal.throwIfAborted();
    clicks += inHour;
    const fromMs = hour * 1_000;
    for (const { id, rows } of await readDoubles(stores.clickhouse, fromMs)) {
      details.push(
        `Click ${id.toLowerCase()} of ${new Date(fromMs).toISOString().slice(0, 13)}:00 has ${rows} rows.`,
      );
    }
    if ((index + 1) % PROGRESS_HOURS === 0)
      terminal.report(`ids: ${index + 1} of ${hours.length} hours`);
  }
  return found(`${count(clicks)} clicks since ${sinceText(scope.sinceMs)}`, details);
}

function sinceText(sinceMs: number): string {
  return sinceMs === 0 ? "the first" : new Date(sinceMs).toISOString().slice(0, 10);
}

async function readHours(clickhouse: Clickhouse, sinceMs: number): Promise<z.infer<typeof Hours>> {
  const answer = await clickhouse.query({
    query: `select toUnixTimestamp(toStartOfHour(ts)) as hour, count() as clicks from ${allShards(clickhouse, "click")}
      where ts >= fromUnixTimestamp64Milli({since: Int64}, 'UTC') group by hour order by hour`,
    query_params: { since: sinceMs },
    format: "JSONEachRow",
  });
  return Hours.parse(await answer.json());
}

async function readDoubles(
  clickhouse: Clickhouse,
  fromMs: number,
): Promise<z.infer<typeof Doubles>> {
  const answer = await clickhouse.query({
    query: `select hex(click_id) as id, count() as rows from ${allShards(clickhouse, "click")}
      where ts >= fromUnixTimestamp64Milli({from: Int64}, 'UTC') and ts < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
      group by click_id having rows > 1 order by id limit {shown: UInt32}`,
    query_params: { from: fromMs, to: fromMs + HOUR_MS, shown: DOUBLES_SHOWN },
    format: "JSONEachRow",
    clickhouse_settings: { max_bytes_before_external_group_by: String(SPILL_BYTES) },
  });
  return Doubles.parse(await answer.json());
}

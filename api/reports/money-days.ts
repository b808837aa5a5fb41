import { z } from "zod";
import { allShards } from "../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { ReportPlan } from "./report-plan.ts";
import { type ReportScope, scopeConditions } from "./report-scope.ts";
import { SqlParams } from "./sql-params.ts";

/** What decides which money a report reads. */
export type MoneyRead = Pick<ReportPlan, "range" | "currency" | "comparison" | "dateBasis"> & {
  /** Whether money in other currencies is converted. */
  readonly converts: boolean;
};

/** Enough for centuries of one currency. Bounds the size of a statement. */
const DAYS_MAX = 100_000;
const DAY_SECONDS = DAY_MS / SECOND_MS;
const MoneyDay = z.object({
  kind: z.enum(["cost", "money"]),
  currency: z.string(),
  date: z.string(),
});
/** A day of UTC, `YYYY-MM-DD`, on which a report has money in a currency. */
export type MoneyDay = z.infer<typeof MoneyDay>;

/**
 * The days of the costs that may be in a range, as seconds of the wall clock: the first second of the first day, and of the day after the
 * last. A time that the clocks skip may count up to a day later (cost-rows.ts).
 */
export function costSeconds({ fromMs, toMs, zone }: TimeRange): { from: number; end: number } {
  return {
    from: Math.max(zone.dayAt(fromMs) - 1, 0) * DAY_SECONDS,
    end: (zone.dayAt(toMs) + 1) * DAY_SECONDS,
  };
}

/**
 * The days and currencies of a report's ad costs and, if it converts, of its money in other currencies. Only the staff sees costs.
 * @throws {ApiError} `invalid_parameter` if there are more than a statement may carry.
 */
export async function readMoneyDays(
  clickhouse: ClickhouseReader,
  scope: ReportScope,
  read: MoneyRead,
): Promise<MoneyDay[]> {
  const params = new SqlParams();
  const ranges = [read.range, ...(read.comparison === undefined ? [] : [read.comparison.range])];
  const parts = ranges.flatMap((range) => [
    ...(scope.role === "staff" ? [costDays(range, scope, params)] : []),
    ...(read.converts
      ? moneyDays({ ...read, range }, { scope, params, clicks: allShards(clickhouse, "click") })
      : []),
  ]);
  if (parts.length === 0) return [];
  const days = await selectRows(
    clickhouse,
    {
      name: "api.report-days",
      text: `select distinct kind, currency, date from (\n${parts.join("\nunion all\n")}\n)
        limit ${params.of("UInt32", DAYS_MAX + 1)}`,
      params: params.values,
    },
    MoneyDay,
  );
  if (days.length > DAYS_MAX)
    throw invalidParameter("from", "the range has money of too many days and currencies");
  return days;
}

function costDays(range: TimeRange, { workspaceId }: ReportScope, params: SqlParams): string {
  const { from, end } = costSeconds(range);
  return `select 'cost' as kind, currency, toString(toDate(wall_time)) as date from ad_cost_fact
    where workspace_id = ${params.of("UInt32", workspaceId)}
      and wall_time >= toDateTime(${params.of("Int64", from)}, 'UTC') and wall_time < toDateTime(${params.of("Int64", end)}, 'UTC')`;
}

/** Days of UTC, also days that are only partly in the range. Clicks are read from sums where there are some (rollups.ts). */
function moneyDays(
  { range: { fromMs, toMs }, currency, dateBasis }: MoneyRead,
  {
    scope,
    params,
    clicks,
  }: { readonly scope: ReportScope; readonly params: SqlParams; readonly clicks: string },
): string[] {
  const day = `intDiv(toUnixTimestamp(ts), ${DAY_SECONDS})`;
  const dayOf = (ms: number): string => params.of("UInt32", Math.floor(ms / DAY_MS));
  const instantOf = (ms: number): string =>
    `fromUnixTimestamp64Milli(${params.of("Int64", ms)}, 'UTC')`;
  const at = dateBasis === "click" ? "ifNull(click_ts, conv_ts)" : "conv_ts";
  const where = [
    ...scopeConditions(scope, params),
    `currency not in ('', ${params.of("String", currency)})`,
  ].join(" and ");
  return [
    `select 'money' as kind, currency, toString(toDate(${day})) as date from ${clicks}
    where ${where} and status != 'blocked' and ${day} >= ${dayOf(Math.max(fromMs, 0))} and ${day} <= ${dayOf(toMs)}
    group by currency, ${day}
    having sum(click_payout) != 0 or sum(click_revenue) != 0`,
    `select 'money' as kind, currency, toString(toDate(conv_ts)) as date from conversion_fact
    where ${where} and ${at} >= ${instantOf(fromMs)} and ${at} <= ${instantOf(toMs)}
      and (payout != 0 or revenue != 0 or sale_amount != 0)`,
  ];
}

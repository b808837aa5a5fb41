import { z } from "zod";
import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { findExchangeRates } from "../../schemas/postgres/exchange-rates.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../errors.ts";
import type { DayRates, ReportPlan } from "./report-plan.ts";
import { type ReportScope, scopeConditions } from "./report-scope.ts";
import { SqlParams } from "./sql-params.ts";

type RatesNeeded = Pick<ReportPlan, "range" | "currency" | "comparison" | "dateBasis"> & {
  /** Whether money in other currencies is converted. */
  readonly converts: boolean;
};

/** Enough for centuries of one currency. Bounds the size of a statement. */
const PAIRS_MAX = 100_000;
const DAY_SECONDS = DAY_MS / SECOND_MS;
const Pair = z.object({
  kind: z.enum(["cost", "money"]),
  currency: z.string(),
  date: z.string(),
});
type Pair = z.infer<typeof Pair>;

/**
 * The days of the costs that may be in a range, as seconds of the wall clock: the first second of the first day, and that of the
 * day after the last. A time that the clocks skip may count up to a day later (cost-rows.ts).
 */
export function costSeconds({ fromMs, toMs, zone }: TimeRange): { from: number; end: number } {
  return {
    from: Math.max(zone.dayAt(fromMs) - 1, 0) * DAY_SECONDS,
    end: (zone.dayAt(toMs) + 1) * DAY_SECONDS,
  };
}

/**
 * Usable rates for the days and currencies of a report's ad costs and, if it converts, of its other money. `costRates` is undefined if
 * there are no costs, or none for this caller.
 * @throws {ApiError} `invalid_parameter` if there are more than a statement may carry.
 */
export async function readDayRates(
  { db, clickhouse }: { readonly db: Queryable; readonly clickhouse: ClickhouseReader },
  scope: ReportScope,
  needed: RatesNeeded,
): Promise<Pick<ReportPlan, "costRates" | "moneyRates">> {
  const { currency, converts } = needed;
  const params = new SqlParams();
  const ranges = [
    needed.range,
    ...(needed.comparison === undefined ? [] : [needed.comparison.range]),
  ];
  const pairs = ranges.flatMap((range) => [
    ...(scope.role === "staff" ? [costPairs(range, scope, params)] : []),
    ...(converts ? moneyPairs({ ...needed, range }, scope, params) : []),
  ]);
  if (pairs.length === 0) return { costRates: undefined };
  const found = await selectRows(
    clickhouse,
    {
      name: "api.report-days",
      text: `select distinct kind, currency, date from (\n${pairs.join("\nunion all\n")}\n)
        limit ${params.of("UInt32", PAIRS_MAX + 1)}`,
      params: params.values,
    },
    Pair,
  );
  if (found.length > PAIRS_MAX)
    throw invalidParameter("from", "the range has money of too many days and currencies");
  const costs = found.filter(({ kind }) => kind === "cost");
  const foreign = found.filter((pair) => pair.currency !== currency);
  const rates = await findExchangeRates(db, foreign, { workspaceId: scope.workspaceId, currency });
  const usable = foreign.flatMap((pair, index) => {
    const rate = rates[index];
    return rate === undefined ? [] : [{ ...pair, ...rate }];
  });
  const of = (kind: Pair["kind"]): DayRates => ratesOf(usable.filter((one) => one.kind === kind));
  return {
    costRates: costs.length === 0 ? undefined : of("cost"),
    ...(converts ? { moneyRates: of("money") } : {}),
  };
}

function ratesOf(
  rates: readonly (Pair & { readonly numerator: bigint; readonly denominator: bigint })[],
): DayRates {
  return {
    currencies: rates.map((one) => one.currency),
    dates: rates.map((one) => one.date),
    numerators: rates.map(({ numerator }) => String(numerator)),
    denominators: rates.map(({ denominator }) => String(denominator)),
  };
}

function costPairs(range: TimeRange, { workspaceId }: ReportScope, params: SqlParams): string {
  const { from, end } = costSeconds(range);
  return `select 'cost' as kind, currency, toString(toDate(wall_time)) as date from ad_cost_fact
    where workspace_id = ${params.of("UInt32", workspaceId)}
      and wall_time >= toDateTime(${params.of("Int64", from)}, 'UTC') and wall_time < toDateTime(${params.of("Int64", end)}, 'UTC')`;
}

/** Days of UTC, also those of which the range has only a part. Clicks are read from sums where there are some (rollups.ts). */
function moneyPairs(
  { range: { fromMs, toMs }, currency, dateBasis }: RatesNeeded,
  scope: ReportScope,
  params: SqlParams,
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
    `select 'money' as kind, currency, toString(toDate(${day})) as date from click
    where ${where} and status != 'blocked' and ${day} >= ${dayOf(Math.max(fromMs, 0))} and ${day} <= ${dayOf(toMs)}
    group by currency, ${day}
    having sum(click_payout) != 0 or sum(click_revenue) != 0`,
    `select 'money' as kind, currency, toString(toDate(conv_ts)) as date from conversion_fact
    where ${where} and ${at} >= ${instantOf(fromMs)} and ${at} <= ${instantOf(toMs)}
      and (payout != 0 or revenue != 0 or sale_amount != 0)`,
  ];
}

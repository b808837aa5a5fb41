import { z } from "zod";
import type { ClickhouseReader } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { findExchangeRates } from "../../schemas/postgres/exchange-rates.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../errors.ts";
import type { ReportScope } from "./report-scope.ts";

/** The value of one unit of a currency on a day, in the currency of the report. Equal indexes of the lists belong together. */
export type CostRates = {
  readonly currencies: readonly string[];
  readonly dates: readonly string[];
  /** Whole numbers as text: the rate is numerator / denominator. */
  readonly numerators: readonly string[];
  readonly denominators: readonly string[];
};

/** Enough for centuries of one currency. Bounds the size of a statement. */
const PAIRS_MAX = 100_000;
const Pair = z.object({ currency: z.string(), date: z.string() });

/**
 * The days of the costs that may be in a range, as seconds of the wall clock: the first second of the first day, and that of the
 * day after the last. A time that the clocks skip may count up to a day later (cost-rows.ts).
 */
export function costSeconds({ fromMs, toMs, zone }: TimeRange): { from: number; end: number } {
  const daySeconds = DAY_MS / SECOND_MS;
  return {
    from: Math.max(zone.dayAt(fromMs) - 1, 0) * daySeconds,
    end: (zone.dayAt(toMs) + 1) * daySeconds,
  };
}

/**
 * Usable rates for the days and currencies of a workspace's costs in a range. Undefined if there are no costs, or none for this
 * caller.
 * @throws {ApiError} `invalid_parameter` if there are more than a statement may carry.
 */
export async function readCostRates(
  { db, clickhouse }: { readonly db: Queryable; readonly clickhouse: ClickhouseReader },
  { role, workspaceId }: ReportScope,
  { range, currency }: { readonly range: TimeRange; readonly currency: string },
): Promise<CostRates | undefined> {
  if (role !== "staff") return undefined;
  const { from, end } = costSeconds(range);
  const found = await selectRows(
    clickhouse,
    {
      name: "api.report-costs",
      text: `select distinct currency, toString(toDate(wall_time)) as date from ad_cost_fact
        where workspace_id = {workspace:UInt32}
          and wall_time >= toDateTime({from:Int64}, 'UTC') and wall_time < toDateTime({end:Int64}, 'UTC')
        limit {limit:UInt32}`,
      params: { workspace: workspaceId, from, end, limit: PAIRS_MAX + 1 },
    },
    Pair,
  );
  if (found.length === 0) return undefined;
  if (found.length > PAIRS_MAX)
    throw invalidParameter("from", "the range has ad costs of too many days and currencies");
  const pairs = found.filter((pair) => pair.currency !== currency);
  const rates = await findExchangeRates(db, pairs, { workspaceId, currency });
  const usable = pairs.flatMap((pair, index) => {
    const rate = rates[index];
    return rate === undefined ? [] : [{ ...pair, ...rate }];
  });
  return {
    currencies: usable.map((one) => one.currency),
    dates: usable.map((one) => one.date),
    numerators: usable.map(({ numerator }) => String(numerator)),
    denominators: usable.map(({ denominator }) => String(denominator)),
  };
}

import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import type { Source } from "./dimensions.ts";
import { costSeconds } from "./money-days.ts";
import { emptyPasses, type FilterOperator, type ReportFilter } from "./report-filters.ts";
import type { DayRates } from "./report-plan.ts";

/** Adds a value of a type as a parameter and returns its placeholder. */
type Param = (type: string, value: unknown) => string;

/** Operators that exclude values: they keep rows without the dimension. */
const LEAVES_OUT: ReadonlySet<FilterOperator> = new Set(["not_in", "not_contains", "empty"]);
/** Filters on these apply to conversions only. The cost of a visitor is the same with or without a purchase. */
const OF_SALES: ReadonlySet<string> = new Set(["event", "status"]);

/** Whether costs pass a filter on a dimension that they do not have (REP, rule 2). */
function keepsCosts({ dimension, operator }: ReportFilter): boolean {
  return OF_SALES.has(dimension.name) || LEAVES_OUT.has(operator);
}

/** How a filter treats the rows of a source, which are all alike without its dimension. */
export function judgementOf(
  filter: ReportFilter,
  source: Source,
): "by value" | "all kept" | "all refused" {
  const { columns, only } = filter.dimension;
  const keeps = (does: boolean) => (does ? "all kept" : "all refused");
  if (source === "cost" && columns.cost === "") return keeps(keepsCosts(filter));
  if (only !== undefined && only !== source) return "all kept";
  return columns[source] === "" ? keeps(emptyPasses(filter)) : "by value";
}

/**
 * Ad costs as rows of a report. `ts` is the instant at which the clocks of the report's zone first show the cost's day and hour,
 * `cost` is in ten-thousandths of `cur`. `cur` is the report's currency wherever a usable rate exists, so that the rest of the
 * statement treats costs like other money. Each cost is rounded by itself, half away from zero, so any rows add up to their totals.
 */
export function costRows(
  plan: {
    readonly workspaceId: number;
    readonly range: TimeRange;
    readonly currency: string;
    readonly rates: DayRates;
  },
  param: Param,
): string {
  const { currencies, dates, numerators, denominators } = plan.rates;
  const { from, end } = costSeconds(plan.range);
  const currency = param("String", plan.currency);
  const units = "toInt256(toDecimal128(amount, 4) * 10000)";
  return [
    "select workspace_id, offer_id, affiliate_id, advertiser_id, traffic_source, ext_campaign_id, ext_adgroup_id,",
    `  fromUnixTimestamp64Milli((${localSeconds()} - ${offsetOfLocal(plan.range, localSeconds(), param)}) * 1000, 'UTC') as ts,`,
    `  if(currency = ${currency} or denominator = 0, ${units}, intDivOrZero(${units} * numerator * 2 + denominator, denominator * 2)) as cost,`,
    `  if(denominator = 0, currency, ${currency}) as cost_currency`,
    "from ad_cost_fact final",
    "any left join (",
    "  select rate.1 as rated_currency, toDate(rate.2) as rated_date, toInt256(rate.3) as numerator, toInt256(rate.4) as denominator",
    `  from (select arrayJoin(arrayZip(${[currencies, dates, numerators, denominators]
      .map((list) => param("Array(String)", list))
      .join(", ")})) as rate)`,
    ") as rates on currency = rated_currency and toDate(wall_time) = rated_date",
    `where workspace_id = ${param("UInt32", plan.workspaceId)}`,
    `  and wall_time >= toDateTime(${param("Int64", from)}, 'UTC') and wall_time < toDateTime(${param("Int64", end)}, 'UTC')`,
  ].join("\n");
}

function localSeconds(): string {
  return "toInt64(toUnixTimestamp(wall_time))";
}

/**
 * The zone's offset from UTC, in seconds, when its clocks first show a time, from SQL for that time's seconds of the clock. A time that the
 * clocks skip uses the offset before the gap: if they skip 02:00 to 03:00, a cost at 02:30 counts at 03:30.
 */
export function offsetOfLocal(
  { fromMs, toMs, zone }: TimeRange,
  seconds: string,
  param: Param,
): string {
  // A change of clocks just before the range affects its first hour.
  const segments = zone.segments(Math.max(fromMs - DAY_MS, 0), toMs + DAY_MS);
  const cases = segments.slice(1).flatMap((segment, index) => {
    const before = segments[index]?.offsetMs ?? segment.offsetMs;
    const endMs = segment.fromMs + Math.max(before, segment.offsetMs);
    return [
      `${seconds} < ${param("Int64", endMs / SECOND_MS)}`,
      param("Int32", before / SECOND_MS),
    ];
  });
  const final = param("Int32", (segments.at(-1)?.offsetMs ?? 0) / SECOND_MS);
  return cases.length === 0 ? final : `multiIf(${[...cases, final].join(", ")})`;
}

import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { OperationContext } from "../operation/operation.ts";
import { reportScope } from "./caller.ts";
import { withIds } from "./filter-codes.ts";
import { PeriodSources } from "./period-sources.ts";
import type { ReportFilter } from "./report-filters.ts";
import type { ReportPlan } from "./report-plan.ts";
import { readFilters } from "./report-request.ts";
import { readManagers } from "./report-rows.ts";
import { SqlParams } from "./sql-params.ts";
import { withStoredNames } from "./stored-names.ts";

/** Days that a list with `filters` may have: it reads every row of its range. */
const DAYS_MAX = 31;

/** The single rows that a report counts: conditions for a statement over their table, and the parameters in them. */
export type CountedRows = {
  readonly conditions: readonly string[];
  readonly params: Readonly<Record<string, unknown>>;
};

type Asked = {
  readonly source: "click" | "conversion";
  /** As sent: the grammar of reports. */
  readonly filters: string;
  readonly range: TimeRange;
  readonly dateBasis: "conversion" | "click";
};

/**
 * The rows behind the cells of reports: made by the compiler of reports, so a report with the same filters and range counts as many.
 * @throws {ApiError} `invalid_parameter` as a report, and for a range that is too long.
 */
export async function countedRows(context: OperationContext, asked: Asked): Promise<CountedRows> {
  const { principal, workspace } = context;
  const scope = reportScope(principal);
  const given = readFilters([asked.filters], scope.role);
  const named = await withIds(context.db, given, scope);
  const filters = await withStoredNames(context.clickhouse, named, scope);
  refuseLongRange(asked, filters);
  const params = new SqlParams();
  const plan: ReportPlan = {
    ...NO_CELLS,
    range: asked.range,
    filters,
    currency: workspace.currency,
    dateBasis: asked.dateBasis,
    scope,
    managers: await readManagers(context, scope.workspaceId, { groupBy: [], filters }),
    costRates: undefined,
  };
  const { cluster } = context.clickhouse;
  const period = new PeriodSources(plan, { range: asked.range, daysLater: 0 }, { params, cluster });
  return { conditions: period.conditions(asked.source), params: params.values };
}

const NO_CELLS = {
  groupBy: [],
  metrics: [],
  sort: { by: "dimension", index: 0, descending: false },
  limit: 0,
  offset: 0,
} as const;

/** Conversions lie in order of their offers, so a filter by offers reads only these offers' conversions. */
function refuseLongRange({ source, range }: Asked, filters: readonly ReportFilter[]): void {
  const isIndexed = filters.some(
    ({ dimension, operator }) =>
      source === "conversion" && dimension.name === "offer" && operator === "in",
  );
  const { fromMs, toMs, zone } = range;
  if (!isIndexed && toMs > Math.max(zone.addDays(fromMs, DAYS_MAX), fromMs + DAYS_MAX * DAY_MS))
    throw invalidParameter("from", `with filters the range may be at most ${DAYS_MAX} days long`);
}

import { indent } from "./indent.ts";
import { changeOf, type Measure, previousOf } from "./measures.ts";
import { moneyKeys, type Period, PeriodSources } from "./period-sources.ts";
import {
  CHANGE_COLUMN,
  DIMENSION_COLUMN,
  METRIC_COLUMN,
  PREVIOUS_COLUMN,
  type ReportPlan,
} from "./report-plan.ts";
import type { ReportSort } from "./report-request.ts";
import { SqlParams } from "./sql-params.ts";
import { IS_PREVIOUS, OuterSums, SUM_COLUMNS } from "./sum-columns.ts";

/** One ClickHouse statement. Values of the request are typed parameters, never part of the text. */
export type CompiledReport = {
  readonly text: string;
  readonly params: Readonly<Record<string, unknown>>;
};

const SETTINGS = [
  "do_not_merge_across_partitions_select_final = 1",
  // Read all pieces from one snapshot. A row that is stored in the meantime is then in all of them or in none, so a moved row is
  // subtracted only where it was counted.
  "enable_shared_storage_snapshot_in_query = 1",
];

/** Compiles a plan to one statement. Without dimensions it returns one row, otherwise also totals over all of its rows. */
export function compileReport(plan: ReportPlan): CompiledReport {
  const { groupBy, metrics, sort, limit, offset, comparison } = plan;
  const params = new SqlParams();
  const sums = new OuterSums(plan, params);
  const keys = groupBy.map((_, index) => `${DIMENSION_COLUMN}${index}`);
  const compared = comparison === undefined ? [] : metrics.flatMap(comparedColumns);
  const text = [
    `with\n${indent(sums.definitions().join(",\n"))}`,
    `select\n${indent([...keys, ...metrics.map(metricColumn), ...compared, sums.others()].join(",\n"))}`,
    `from (\n${indent(rowsOf(plan, keys, params))}\n)`,
    ...(keys.length === 0 ? [] : [`group by ${keys.join(", ")} with totals`, orderBy(sort, keys)]),
    `limit ${params.of("UInt64", limit)} offset ${params.of("UInt64", offset)}`,
    `settings ${SETTINGS.join(", ")}`,
  ].join("\n");
  return { text, params: params.values };
}

/** The rows of the period, and those of the one it is compared with. */
function rowsOf(plan: ReportPlan, keys: readonly string[], params: SqlParams): string {
  const { range, comparison } = plan;
  const select = (period: Period): string =>
    new PeriodSources(plan, period, params).selects().join("\nunion all\n");
  const now = select({ range, daysLater: 0 });
  if (comparison === undefined) return now;
  const before = select({ range: comparison.range, daysLater: comparison.days });
  const columns = [...keys, ...moneyKeys(plan), ...SUM_COLUMNS].join(", ");
  return [now, before]
    .map(
      (text, index) => `select ${columns}, ${index} as ${IS_PREVIOUS} from (\n${indent(text)}\n)`,
    )
    .join("\nunion all\n");
}

function metricColumn(measure: Measure, index: number): string {
  return `toString(${measure.sql}) as ${METRIC_COLUMN}${index}`;
}

function comparedColumns({ sql }: Measure, index: number): string[] {
  return [
    `toString(${previousOf(sql)}) as ${PREVIOUS_COLUMN}${index}`,
    `toString(${changeOf(sql)}) as ${CHANGE_COLUMN}${index}`,
  ];
}

/** Ties are broken by the values of the dimensions. Rows without a value come last (G68). */
function orderBy(sort: ReportSort, keys: readonly string[]): string {
  const direction = sort.descending ? "desc" : "asc";
  const first =
    sort.by === "metric"
      ? `${sort.sql} ${direction} nulls last`
      : `${keys[sort.index] ?? ""} ${direction}`;
  return `order by ${[first, ...keys].join(", ")}`;
}

import { echoRange, type RangeEcho } from "../../schemas/time/range.ts";
import type { ReportPlan } from "./compile-report.ts";
import { readCostRates } from "./cost-rates.ts";
import { type Dimension, isTime } from "./dimensions.ts";
import { withIds } from "./filter-codes.ts";
import type { Measure } from "./measures.ts";
import { ReportLabels } from "./report-labels.ts";
import type { ReportRequest } from "./report-request.ts";
import { type ReportRow, type ReportStores, readManagers, readReportPage } from "./report-rows.ts";
import type { ReportScope } from "./report-scope.ts";

export type ReportColumn = {
  readonly key: string;
  readonly label: string;
  readonly kind: "dimension" | "metric";
  readonly format: "entity" | "date" | "number" | "money";
};

/** The body of `GET /reports`. */
export type ReportAnswer = {
  readonly data: readonly Readonly<Record<string, string | number | null>>[];
  readonly totals: Readonly<Record<string, string | number | null>>;
  readonly columns: readonly ReportColumn[];
  readonly total_rows: number;
  readonly next_offset: number | null;
  readonly currency: string;
  readonly other_currencies: readonly string[];
  readonly range: RangeEcho;
  readonly group_by: readonly string[];
  readonly metrics: readonly string[];
  readonly date_basis: string;
};

/** One page of a report, with totals over the whole report. */
export async function runReport(
  stores: ReportStores,
  request: ReportRequest,
  scope: ReportScope,
): Promise<ReportAnswer> {
  const { groupBy, metrics, limit, offset } = request;
  const page = await readReportPage(stores, await planOf(stores, request, scope));
  const labels = new ReportLabels(stores.db, scope);
  await loadLabels(labels, groupBy, page.rows);
  const isGrouped = groupBy.length > 0;
  return {
    data: page.rows.map((row) => rowObject(row, { groupBy, metrics, labels })),
    totals: named(metrics, page.totals),
    columns: reportColumns(groupBy, metrics),
    total_rows: page.rowsAll,
    next_offset: isGrouped && offset + limit < page.rowsAll ? offset + limit : null,
    currency: request.currency,
    other_currencies: page.otherCurrencies,
    range: echoRange(request.range),
    group_by: groupBy.map(({ name }) => name),
    metrics: metrics.map(({ name }) => name),
    date_basis: request.dateBasis,
  };
}

export async function planOf(
  stores: ReportStores,
  request: ReportRequest,
  scope: ReportScope,
): Promise<ReportPlan> {
  const { range, groupBy, metrics, sort, currency, dateBasis, limit } = request;
  const filters = await withIds(stores.db, request.filters, scope);
  const managers = await readManagers(stores, scope.workspaceId, request);
  const costRates = await readCostRates(stores, scope, request);
  // Without dimensions there is only one row, which is always answered.
  const offset = groupBy.length === 0 ? 0 : request.offset;
  const asked = { range, groupBy, metrics, sort, filters, currency, dateBasis, limit, offset };
  return { ...asked, scope, managers, costRates };
}

/** Reads the names of all records in these rows. */
export async function loadLabels(
  labels: ReportLabels,
  groupBy: readonly Dimension[],
  rows: readonly ReportRow[],
): Promise<void> {
  for (const [index, dimension] of groupBy.entries()) {
    await labels.load(
      dimension,
      rows.map(({ values }) => values[index] ?? ""),
    );
  }
}

/** Dimensions first, then metrics (REP-007). */
function reportColumns(groupBy: readonly Dimension[], metrics: readonly Measure[]): ReportColumn[] {
  return [
    ...groupBy.map(
      ({ name, label, kind }): ReportColumn => ({
        key: name,
        label,
        kind: "dimension",
        format: isTime(kind) ? "date" : "entity",
      }),
    ),
    ...metrics.map(
      ({ name, label, kind }): ReportColumn => ({
        key: name,
        label,
        kind: "metric",
        format: kind === "money" ? "money" : "number",
      }),
    ),
  ];
}

function rowObject(
  row: ReportRow,
  { groupBy, metrics, labels }: Pick<ReportPlan, "groupBy" | "metrics"> & { labels: ReportLabels },
): Record<string, string | number | null> {
  const dimensions = groupBy.flatMap((dimension, index): [string, string | number][] => {
    const value = row.values[index] ?? "";
    const { label, sub } = labels.of(dimension, value);
    return [
      [dimension.name, value],
      [`${dimension.name}_label`, label],
      [`${dimension.name}_sub`, sub],
    ];
  });
  return { ...Object.fromEntries(dimensions), ...named(metrics, row.metrics) };
}

function named(
  metrics: readonly Measure[],
  values: readonly (string | number | null)[],
): Record<string, string | number | null> {
  return Object.fromEntries(metrics.map(({ name }, index) => [name, values[index] ?? null]));
}

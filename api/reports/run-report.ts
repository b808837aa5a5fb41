import { echoRange, type RangeEcho } from "../../schemas/time/range.ts";
import { readDayRates } from "./day-rates.ts";
import { type Dimension, isTime } from "./dimensions.ts";
import { hasFewRows } from "./few-rows.ts";
import { withIds } from "./filter-codes.ts";
import type { Measure } from "./measures.ts";
import { ReportLabels } from "./report-labels.ts";
import type { ReportPlan } from "./report-plan.ts";
import type { ReportRequest } from "./report-request.ts";
import {
  type ReportCells,
  type ReportRow,
  type ReportStores,
  readHomeOffers,
  readManagers,
  readReportPage,
} from "./report-rows.ts";
import type { ReportScope } from "./report-scope.ts";
import { withStoredNames } from "./stored-names.ts";

export type ReportColumn = {
  readonly key: string;
  readonly label: string;
  readonly kind: "dimension" | "metric";
  readonly format: "entity" | "date" | "number" | "money";
};

type Cell = string | number | null;
/** Values by name; `previous` and `change` are records of their own. */
export type NamedCells = Readonly<Record<string, Cell | Readonly<Record<string, Cell>>>>;

/** What came of `convert=1`. */
export type ConversionEcho = { readonly basis: "daily"; readonly unconverted: readonly string[] };

/** The body of `GET /reports`. */
export type ReportAnswer = {
  readonly data: readonly NamedCells[];
  readonly totals: NamedCells;
  readonly columns: readonly ReportColumn[];
  readonly total_rows: number;
  readonly next_offset: number | null;
  readonly currency: string;
  readonly other_currencies: readonly string[];
  readonly range: RangeEcho;
  readonly group_by: readonly string[];
  readonly metrics: readonly string[];
  readonly date_basis: string;
  /** With `compare`. */
  readonly compared_range?: RangeEcho;
  readonly conversion?: ConversionEcho;
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
    totals: namedCells(metrics, page.totals),
    columns: reportColumns(groupBy, metrics),
    total_rows: page.rowsAll,
    next_offset: isGrouped && offset + limit < page.rowsAll ? offset + limit : null,
    currency: request.currency,
    other_currencies: page.otherCurrencies,
    range: echoRange(request.range),
    group_by: groupBy.map(({ name }) => name),
    metrics: metrics.map(({ name }) => name),
    date_basis: request.dateBasis,
    ...echoesOf(request, page.otherCurrencies),
  };
}

export async function planOf(
  stores: ReportStores,
  request: Omit<
    ReportPlan,
    "scope" | "managers" | "homeOffers" | "costRates" | "moneyRates" | "hasFewRows"
  > &
    Pick<ReportRequest, "converts">,
  scope: ReportScope,
): Promise<ReportPlan> {
  const withRecords = await withIds(stores.db, request.filters, scope);
  const filters = await withStoredNames(stores.clickhouse, withRecords, scope);
  const managers = await readManagers(stores, scope.workspaceId, request);
  const homeOffers = await readHomeOffers(stores, scope.workspaceId, request);
  const rates = await readDayRates(stores, scope, request);
  const isSmall = await hasFewRows(stores);
  // Without dimensions there is only one row, which is always answered.
  const offset = request.groupBy.length === 0 ? 0 : request.offset;
  return {
    ...request,
    filters,
    offset,
    scope,
    managers,
    homeOffers,
    ...rates,
    hasFewRows: isSmall,
  };
}

/** What an answer says of its comparison and its conversion. */
export function echoesOf(
  { comparison, converts }: Pick<ReportRequest, "comparison" | "converts">,
  unconverted: readonly string[],
): { compared_range?: RangeEcho; conversion?: ConversionEcho } {
  return {
    ...(comparison && { compared_range: echoRange(comparison.range) }),
    ...(converts && { conversion: { basis: "daily" as const, unconverted } }),
  };
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
): NamedCells {
  const dimensions = groupBy.flatMap((dimension, index): [string, string | number][] => {
    const value = row.values[index] ?? "";
    const { label, sub } = labels.of(dimension, value);
    return [
      [dimension.name, value],
      [`${dimension.name}_label`, label],
      [`${dimension.name}_sub`, sub],
    ];
  });
  return { ...Object.fromEntries(dimensions), ...namedCells(metrics, row) };
}

/** The metrics of a row or of the totals by name. */
export function namedCells(
  metrics: readonly Measure[],
  { metrics: values, compared }: ReportCells,
): NamedCells {
  return {
    ...named(metrics, values),
    ...(compared && {
      previous: named(metrics, compared.previous),
      change: named(metrics, compared.change),
    }),
  };
}

function named(metrics: readonly Measure[], values: readonly Cell[]): Record<string, Cell> {
  return Object.fromEntries(metrics.map(({ name }, index) => [name, values[index] ?? null]));
}

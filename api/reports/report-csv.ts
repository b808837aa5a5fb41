import { csvLine, numberCell, textCell } from "../http/csv.ts";
import type { Dimension } from "./dimensions.ts";
import { ReportLabels } from "./report-labels.ts";
import type { ReportRequest } from "./report-request.ts";
import {
  type ReportCells,
  type ReportRow,
  type ReportStores,
  readReportPage,
  streamReportRows,
} from "./report-rows.ts";
import type { ReportScope } from "./report-scope.ts";
import { loadLabels, planOf } from "./run-report.ts";

const CSV_ROWS_MAX = 200_000;

/**
 * A whole report as lines of CSV: header, rows, and, unless `totals=0`, totals over the whole report and a note about the currencies left
 * out (G77). The
 * first piece comes only after ClickHouse has answered, so an earlier fault can still set the HTTP status. The rows are never all
 * in memory.
 */
export async function* reportCsv(
  stores: ReportStores,
  request: ReportRequest,
  scope: ReportScope,
): AsyncGenerator<string> {
  const { groupBy } = request;
  const plan = await planOf(stores, request, scope);
  const whole = await readReportPage(stores, { ...plan, groupBy: [], limit: 1, offset: 0 });
  const labels = new ReportLabels(stores.db, scope);
  yield headerLine(request);
  if (groupBy.length === 0) {
    yield csvLine(["All", ...cellsOf(whole.totals)]);
  } else {
    const rows = streamReportRows(stores, { ...plan, limit: CSV_ROWS_MAX, offset: 0 });
    for await (const some of rows) {
      await loadLabels(labels, groupBy, some);
      yield some.map((row) => rowLine(row, groupBy, labels)).join("");
    }
  }
  if (!request.hasTotals) return;
  const blanks = groupBy
    .flatMap(cellNames)
    .slice(1)
    .map(() => "");
  const isByRow = namesCurrency(request);
  const heading = isByRow ? `Totals (${request.currency})` : "Totals";
  yield csvLine([heading, ...blanks, ...cellsOf(whole.totals)]);
  if (whole.otherCurrencies.length > 0) {
    const place = isByRow ? " in the totals" : "";
    yield csvLine([
      textCell(`Note: amounts in ${whole.otherCurrencies.join(", ")} are not included${place}`),
    ]);
  }
}

/** Whether each row has its money in the currency that it names (G236). */
function namesCurrency({
  groupBy,
  converts,
}: Pick<ReportRequest, "groupBy" | "converts">): boolean {
  return !converts && groupBy.some(({ name }) => name === "currency");
}

function headerLine(request: ReportRequest): string {
  const { groupBy, metrics, comparison } = request;
  const currency = namesCurrency(request) ? "currency of the row" : request.currency;
  const dimensions = groupBy.length === 0 ? ["Report"] : groupBy.flatMap(cellNames);
  const headings = (suffix: readonly string[]): string[] =>
    metrics.map(({ label, kind }) => {
      const notes = [...(kind === "money" ? [currency] : []), ...suffix];
      return notes.length === 0 ? label : `${label} (${notes.join(", ")})`;
    });
  const compared =
    comparison === undefined
      ? []
      : [...headings(["previous"]), ...metrics.map(({ label }) => `${label} (change)`)];
  return csvLine([...dimensions, ...headings([]), ...compared].map(textCell));
}

function cellsOf({ metrics, compared }: ReportCells): string[] {
  return [...metrics, ...(compared?.previous ?? []), ...(compared?.change ?? [])].map(numberCell);
}

/** Columns of a dimension: an entity has its name next to its id. */
function cellNames({ entity, kind, label }: Dimension): string[] {
  return entity !== undefined && kind === "id" ? [label, `${label} ID`] : [label];
}

function rowLine(row: ReportRow, groupBy: readonly Dimension[], labels: ReportLabels): string {
  const dimensions = groupBy.flatMap((dimension, index) => {
    const value = row.values[index] ?? "";
    const names = cellNames(dimension);
    return names.length === 1
      ? [textCell(String(value))]
      : [textCell(labels.of(dimension, value).label), numberCell(value)];
  });
  return csvLine([...dimensions, ...cellsOf(row)]);
}

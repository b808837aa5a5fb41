import { CsvFault, csvRecords, withoutEmptyEnd } from "../../http/csv-records.ts";
import { refuseFaultyList } from "../../http/faulty-list.ts";
import { ApiError, UNKNOWN_FIELD, validationFailed } from "../../operation/errors.ts";
import type { CsvBody } from "../../operation/operation.ts";
import { AdCostRow, COSTS_MAX, StrictCosts } from "./ad-cost-fields.ts";

/** As many as are looked at before the rest is read. */
const BEGINNING_ROWS = 200;
const COLUMNS: ReadonlySet<string> = new Set(Object.keys(AdCostRow.shape));

/**
 * Costs as CSV: a header line with field names in any order and case, then one line for each cost. An empty cell means the field is left
 * out, and empty cells at the end of a line are none.
 */
export const csvCosts: CsvBody = {
  read: (text) => {
    try {
      return { rows: rowsOf(csvRecords(text)) };
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error;
      throw new ApiError("invalid_request", `the body is not CSV: ${error.message}`);
    }
  },
  example:
    "date,hour,offer_id,traffic_source,ext_campaign_id,currency,amount\r\n" +
    "2025-01-31,,SUMMER,google,1234567890,USD,25.40\r\n",
};

/** Reads at most one row more than a call may have, so that the schema refuses a body with too many. */
function rowsOf(records: Generator<string[], undefined>): Record<string, unknown>[] {
  const { value: header } = records.next();
  if (header === undefined)
    throw new ApiError("invalid_request", "send a header line with the names of the columns");
  const columns = withoutEmptyEnd(header).map((cell) => cell.trim().toLowerCase());
  refuseHeader(columns);
  const rows: Record<string, unknown>[] = [];
  for (const cells of records) {
    rows.push(rowOf(columns, cells));
    if (rows.length > COSTS_MAX) break;
    if (rows.length === BEGINNING_ROWS) refuseFaultyList(StrictCosts, { rows });
  }
  return rows;
}

function refuseHeader(columns: readonly string[]): void {
  const faults = columns.flatMap((column, index): [string, string][] => {
    if (!COLUMNS.has(column)) return [[column, UNKNOWN_FIELD]];
    return columns.indexOf(column) === index ? [] : [[column, "occurs twice"]];
  });
  if (faults.length > 0) throw validationFailed(Object.fromEntries(faults));
}

/** The first cell beyond the header becomes an unknown field, which the schema refuses. */
function rowOf(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const read = cells.length > columns.length ? withoutEmptyEnd(cells) : cells;
  for (const [index, cell] of read.slice(0, columns.length + 1).entries()) {
    const column = columns[index] ?? `column ${index + 1}`;
    if (cell !== "") row[column] = valueOf(column, cell);
  }
  return row;
}

function valueOf(column: string, cell: string): unknown {
  return column === "hour" && /^\d{1,2}$/.test(cell) ? Number(cell) : cell;
}

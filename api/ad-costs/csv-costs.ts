import { CsvError, parse } from "csv-parse/sync";
import { z } from "zod";
import { ApiError, validationFailed } from "../errors.ts";
import type { CsvBody } from "../operation.ts";
import { AdCostRow } from "./ad-cost-fields.ts";

const Records = z.array(z.array(z.string()));
const COLUMNS: ReadonlySet<string> = new Set(Object.keys(AdCostRow.shape));

/**
 * Costs as CSV: a header line with field names in any order, then one line for each cost. An empty cell means the field is left
 * out.
 */
export const csvCosts: CsvBody = {
  read: (text) => {
    const [header, ...lines] = recordsOf(text);
    if (header === undefined)
      throw new ApiError("invalid_request", "send a header line with the names of the columns");
    const columns = header.map((cell) => cell.trim());
    refuseHeader(columns);
    return { rows: lines.map((cells) => rowOf(columns, cells)) };
  },
  example:
    "date,hour,offer_id,traffic_source,ext_campaign_id,currency,amount\r\n" +
    "2025-01-31,,SUMMER,google,1234567890,USD,25.40\r\n",
};

function recordsOf(text: string): string[][] {
  try {
    return Records.parse(
      parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true }),
    );
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ApiError("invalid_request", `the body is not CSV: ${error.message}`);
  }
}

function refuseHeader(columns: readonly string[]): void {
  const faults = columns.flatMap((column, index): [string, string][] => {
    if (!COLUMNS.has(column)) return [[column, "unknown field"]];
    return columns.indexOf(column) === index ? [] : [[column, "occurs twice"]];
  });
  if (faults.length > 0) throw validationFailed(Object.fromEntries(faults));
}

/** Extra cells beyond the header become unknown fields, which the schema refuses. */
function rowOf(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    cells.flatMap((cell, index): [string, unknown][] => {
      const column = columns[index] ?? `column ${index + 1}`;
      return cell === "" ? [] : [[column, valueOf(column, cell)]];
    }),
  );
}

function valueOf(column: string, cell: string): unknown {
  return column === "hour" && /^\d{1,2}$/.test(cell) ? Number(cell) : cell;
}

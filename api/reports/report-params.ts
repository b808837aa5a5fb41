import { z } from "zod";
import { PRESETS } from "../../schemas/time/presets.ts";
import { rangeParams } from "../rest/query-fields.ts";
import { dimensionNames } from "./dimensions.ts";
import { measureNames } from "./measures.ts";
import { FILTER_OPERATORS } from "./report-filters.ts";

const text = (description: string): z.ZodOptional<z.ZodString> =>
  z.string().optional().meta({ description });

const METRICS = measureNames("staff");

/** Parameters that reports and series share. Their allowed values depend on the role: see report-request.ts. */
export const measuredParams = {
  ...rangeParams,
  preset: text(`Named range: ${PRESETS.join(", ")}`),
  metrics: text(
    `Comma-separated, by default the first 21 that the key may see: ${METRICS.join(", ")}`,
  ),
  filters: text(
    "Terms `dimension:operator:value1|value2`, separated by commas. Operators: " +
      `${FILTER_OPERATORS.join(", ")}. Offers and partners by id or code. Values that contain a comma or a bar are percent-encoded once more`,
  ),
  currency: text("Currency of the money columns, default the workspace's"),
};

export const reportParams = {
  ...measuredParams,
  group_by: text(`Comma-separated, at most 3: ${dimensionNames("staff").join(", ")}`),
  sort: text("Name of a metric or of a dimension of `group_by`; a leading `-` sorts descending"),
  limit: text("1 to 10000, default 1000"),
  offset: text("Rows to skip, default 0"),
  format: text("`json` or `csv`: up to 200000 rows and a totals line"),
  totals: text(
    "`0` leaves the totals line and the note out of the CSV, so that a table of rows remains; default `1`",
  ),
  date_basis: text("Dates conversions by `conversion` time (default) or by `click` time"),
};

export const rangeEcho = z.object({ from: z.string(), to: z.string(), tz: z.string() });

const cell = z.union([z.string(), z.number(), z.null()]);
export const reportCells = z.record(z.string(), cell);

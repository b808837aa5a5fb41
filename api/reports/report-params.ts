import { z } from "zod";
import { PRESETS } from "../../schemas/time/presets.ts";
import { rangeParams } from "../rest/query-fields.ts";
import { dimensionNames } from "./dimensions.ts";
import { measureNames } from "./measures.ts";
import { FILTER_OPERATORS } from "./report-filters.ts";

const text = (description: string): z.ZodOptional<z.ZodString> =>
  z.string().optional().meta({ description });

const METRICS = measureNames("staff");

const comparedParams = {
  compare: text(
    "Another period beside this one: `previous`, `previous_year` (52 weeks before), or `<date>..<date>` with as many days. Rows and totals get " +
      "`previous` and `change`",
  ),
  convert: text(
    "`1` converts money in other currencies at the reference rate of its day of UTC; default `0`",
  ),
};

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
  ...comparedParams,
};

export const reportParams = {
  ...measuredParams,
  group_by: text(`Comma-separated, at most 3: ${dimensionNames("staff").join(", ")}`),
  sort: text(
    "Name of a metric or of a dimension of `group_by`, or with `compare` `previous.` or `change.` and a metric; a leading `-` sorts descending",
  ),
  limit: text("1 to 10000, default 1000"),
  offset: text("Rows to skip, default 0"),
  format: text("`json` or `csv`: up to 200000 rows and a totals line"),
  totals: text(
    "`0` leaves the totals line and the note out of the CSV, so that a table of rows remains; default `1`",
  ),
  date_basis: text("Dates conversions by `conversion` time (default) or by `click` time"),
};

/** Of a series. */
export const withTotals = text("`1` adds `totals` over the whole range; default `0`");

export const rangeEcho = z.object({ from: z.string(), to: z.string(), tz: z.string() });

const cell = z.union([z.string(), z.number(), z.null()]);
const cells = z.record(z.string(), cell);
/** Values by name, and with `compare` those of the other period and how far they changed. */
export const reportCells = z
  .object({
    previous: cells.optional().meta({ description: "With `compare`" }),
    change: z.record(z.string(), z.number().nullable()).optional().meta({
      description: "With `compare`: 0.25 for a quarter more, null where there was nothing",
    }),
  })
  .catchall(cell);
/** With `compare`. */
export const comparedEcho = rangeEcho.optional();
/** With `convert=1`. */
export const conversionEcho = z
  .object({ basis: z.literal("daily"), unconverted: z.array(z.string()) })
  .optional()
  .meta({
    description:
      "With `convert=1`. Each day's money of a currency is converted and rounded once. Totals follow the same rule by themselves, so they " +
      "may differ from the sum of rows by less than a ten-thousandth for each of them",
  });

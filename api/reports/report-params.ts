import { z } from "zod";
import { rangeEcho, rangeParams, wholeNumber } from "../http/query-fields.ts";
import { sentAs } from "../operation/parameters.ts";
import { dimensionNames } from "./dimensions.ts";
import { measureNames } from "./measures.ts";
import { FILTER_OPERATORS, FILTER_TERMS_MAX } from "./report-filters.ts";

export const GROUP_BY_MAX = 3;
export const LIMIT_DEFAULT = 1_000;
export const LIMIT_MAX = 10_000;
/** With a larger offset no report could finish within any time limit. */
export const OFFSET_MAX = 1_000_000_000;

/** A parameter that report-request.ts reads, because its allowed values depend on the role. `shown` describes it for staff. */
export function param(shown: z.ZodType, description: string): z.ZodOptional<z.ZodString> {
  return sentAs(z.string().optional(), shown).meta({ description });
}

const METRICS = measureNames("staff");
const DIMENSIONS = dimensionNames("staff");
const COMPARED = METRICS.flatMap((name) => [`previous.${name}`, `change.${name}`]);
const ORDERS = [...METRICS, ...DIMENSIONS, ...COMPARED].flatMap((name) => [name, `-${name}`]);

const Metric = z.enum(METRICS).meta({ id: "ReportMetric" });
const Dimension = z.enum(DIMENSIONS).meta({ id: "ReportDimension" });
const Order = z.enum([...new Set(ORDERS)]).meta({ id: "ReportSort" });
const FilterTerm = z
  .string()
  .regex(new RegExp(`^(${DIMENSIONS.join("|")}):(${FILTER_OPERATORS.join("|")})(:[^,]*)?$`))
  .meta({ examples: ["country:in:DE|AT"] });

/** A period beside the report: a name, or as many days. */
const Compare = z.union([
  z.enum(["previous", "previous_year"]),
  // Empty counts as absent.
  z.string().regex(/^(\d{4}-\d{2}-\d{2}\.\.\d{4}-\d{2}-\d{2})?$/),
]);

const comparedParams = {
  compare: param(
    Compare,
    "Another period beside this one: `previous`, `previous_year` (52 weeks before), or `<date>..<date>` with as many days. Rows and totals get " +
      "`previous` and `change`",
  ),
  convert: param(
    z.enum(["0", "1"]).meta({ default: "0" }),
    "`1` converts money in other currencies at the reference rate of its day of UTC",
  ),
};

const filterTerms = z.array(FilterTerm).max(FILTER_TERMS_MAX);

/** `filters` of a list. */
export const listFiltersParam = param(
  filterTerms,
  "Terms as in reports. The list then has exactly the rows that a report with these filters counts, so without blocked clicks and " +
    "without what is not in reports yet; a range of at most 31 days, unless conversions are filtered by offers",
);

const filtersParam = param(
  filterTerms,
  `Terms \`dimension:operator:value1|value2\`; rows must match all. Operators: ${FILTER_OPERATORS.join(", ")}; the last two have no ` +
    "values. Records by id, code or name; countries, systems and the like as they are shown, in any case. Values that contain a comma or a bar are " +
    "percent-encoded once more",
);

/** Parameters that reports and series share. */
export const measuredParams = {
  ...rangeParams,
  metrics: param(z.array(Metric), "By default the first 21 that the key may see"),
  filters: filtersParam,
  currency: param(
    z.string().regex(/^([A-Z]{3})?$/),
    "Currency of the money columns, default the workspace's",
  ),
  ...comparedParams,
};

export const reportParams = {
  ...measuredParams,
  group_by: param(z.array(Dimension).max(GROUP_BY_MAX), "Without dimensions there is one row"),
  sort: param(
    Order,
    "Name of a metric or of a dimension of `group_by`, or with `compare` `previous.` or `change.` and a metric; a leading `-` sorts descending",
  ),
  limit: param(
    wholeNumber({ min: 1, max: LIMIT_MAX, fallback: LIMIT_DEFAULT }),
    `1 to ${LIMIT_MAX}, default ${LIMIT_DEFAULT}`,
  ),
  offset: param(wholeNumber({ min: 0, max: OFFSET_MAX, fallback: 0 }), "Rows to skip, default 0"),
  format: param(
    z.enum(["json", "csv"]).meta({ default: "json" }),
    "`csv` answers text/csv: up to 200000 rows and a totals line",
  ),
  totals: param(
    z.enum(["1", "0"]).meta({ default: "1" }),
    "`0` leaves the totals line and the note out of the CSV, so that a table of rows remains",
  ),
  date_basis: param(
    z.enum(["conversion", "click"]).meta({ default: "conversion" }),
    "Whether conversions count at their own time or at the time of their click",
  ),
};

/** For a series. */
export const withTotals = param(
  z.enum(["0", "1"]).meta({ default: "0" }),
  "`1` adds `totals` over the whole range",
);

const cell = z.union([z.string(), z.number(), z.null()]);
const cells = z.record(z.string(), cell);
/** Values by name, with `compare` also of the other period and how far they changed. */
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

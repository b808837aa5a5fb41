import { z } from "zod";
import { PRESETS } from "../../schemas/time/presets.ts";
import { everyRole } from "../access/access-of-operations.ts";
import { type Operation, operation } from "../operation/operation.ts";
import { reportCaller } from "./caller.ts";
import { DIMENSION_DEFINITIONS } from "./dimension-definitions.ts";
import { type Dimension, dimensionsOf, isTime } from "./dimensions.ts";
import { meaningsOf } from "./measures.ts";
import { FILTER_OPERATORS, operatorsOf } from "./report-filters.ts";

const text = z.string();
const says = (description: string): z.ZodString => z.string().meta({ description });
const hiddenFrom = z
  .array(z.enum(["partner", "advertiser"]))
  .optional()
  .meta({ description: "Roles that cannot see it. For staff only" });

const Metric = z.object({
  name: text,
  label: text,
  kind: z
    .enum(["count", "money", "ratio"])
    .meta({ description: "A ratio is a fraction: 0.25 is 25 %" }),
  format: z
    .enum(["number", "money"])
    .meta({ description: "Of the values: money is text with four decimals" }),
  default: z
    .boolean()
    .meta({ description: "False for a metric that is answered only when `metrics` names it" }),
  definition: says("What it counts, in one sentence"),
  formula: says("Over names of metrics; empty for a plain count or sum"),
  counts_statuses: z
    .array(text)
    .meta({ description: "States of the conversions that it counts; empty if it counts none" }),
  date_basis: z.array(text).meta({
    description:
      "Whose time dates it: `click`, `impression`, `cost`, or `conversion` by the parameter `date_basis`",
  }),
  hidden_from: hiddenFrom,
});

const ShownDimension = z.object({
  name: text,
  label: text,
  kind: z
    .enum(["id", "text", "flag", "delay", "time"])
    .meta({ description: "Of its values. A flag is `true` or `false`" }),
  entity: z
    .string()
    .nullable()
    .meta({ description: "What kind of record its values name, if any: offer, affiliate …" }),
  operators: z
    .array(z.enum(FILTER_OPERATORS))
    .meta({ description: "Those that a filter on it may use" }),
  format: z.enum(["entity", "date"]),
  definition: says("What its values mean, in one sentence"),
  splits: z
    .array(z.enum(["clicks", "impressions", "conversions", "ad_cost"]))
    .meta({ description: "What it divides; all else is in the row with the empty value" }),
  hidden_from: hiddenFrom,
});

const SPLITS = {
  click: "clicks",
  impression: "impressions",
  conversion: "conversions",
  cost: "ad_cost",
} as const;

export const listMetrics: Operation = operation({
  name: "listMetrics",
  method: "GET",
  path: "/reports/metrics",
  tag: "Reports",
  summary: "List metrics",
  description:
    "What each metric means. Definition, formula, the states of conversions that it counts, and by which time it is dated. `default` is false for a metric " +
    "that is answered only when `metrics` names it. `date_basis` `conversion` follows the parameter `date_basis` of the report.",
  access: everyRole("reports.read"),
  input: {},
  output: z.object({ data: z.array(Metric) }),
  status: 200,
  run: (context) => {
    const { role } = reportCaller(context);
    const data = meaningsOf(role).map(
      ({
        name,
        label,
        kind,
        isDefault,
        definition,
        formula,
        countsStatuses,
        dateBasis,
        hiddenFrom: hidden,
      }) => ({
        name,
        label,
        kind,
        format: kind === "money" ? ("money" as const) : ("number" as const),
        default: isDefault,
        definition,
        formula,
        counts_statuses: [...countsStatuses],
        date_basis: [...dateBasis],
        ...(role === "staff" ? { hidden_from: [...hidden] } : {}),
      }),
    );
    return Promise.resolve({ body: { data } });
  },
});

export const listDimensions: Operation = operation({
  name: "listDimensions",
  method: "GET",
  path: "/reports/dimensions",
  tag: "Reports",
  summary: "List dimensions",
  description:
    "What each dimension means. `splits` names what a dimension divides. Everything else of a report grouped by it is in the row with the empty value.",
  access: everyRole("reports.read"),
  input: {},
  output: z.object({
    data: z.array(ShownDimension),
    presets: z.array(z.enum(PRESETS)).meta({ description: "Named ranges" }),
  }),
  status: 200,
  run: (context) => {
    const { role } = reportCaller(context);
    const data = dimensionsOf(role).map((one) => ({
      name: one.name,
      label: one.label,
      kind: isTime(one.kind) ? ("time" as const) : one.kind,
      entity: one.entity ?? null,
      operators: operatorsOf(one),
      format: isTime(one.kind) ? ("date" as const) : ("entity" as const),
      definition: DIMENSION_DEFINITIONS[one.name] ?? "",
      splits: splitsOf(one),
      ...(role === "staff" ? { hidden_from: [...one.hiddenFrom] } : {}),
    }));
    return Promise.resolve({ body: { data, presets: PRESETS } });
  },
});

function splitsOf({ columns }: Dimension): (typeof SPLITS)[keyof typeof SPLITS][] {
  const sources = ["click", "impression", "conversion", "cost"] as const;
  return sources.filter((source) => columns[source] !== "").map((source) => SPLITS[source]);
}

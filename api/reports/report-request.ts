import { isCurrency } from "../../schemas/money/currencies.ts";
import type { Preset } from "../../schemas/time/presets.ts";
import { type RangeQuery, resolveRange, type TimeRange } from "../../schemas/time/range.ts";
import { invalidParameter } from "../operation/errors.ts";
import { type Comparison, parseComparison } from "./comparison.ts";
import { type Dimension, dimensionNames, findDimension, isTime } from "./dimensions.ts";
import {
  changeOf,
  findMeasure,
  type Measure,
  measureNames,
  measuresOf,
  previousOf,
} from "./measures.ts";
import { parseFilters, type ReportFilter } from "./report-filters.ts";
import { GROUP_BY_MAX, LIMIT_DEFAULT, LIMIT_MAX, OFFSET_MAX } from "./report-params.ts";
import type { ReportRole } from "./report-scope.ts";

/** The query of `GET /reports`, as sent. */
export type ReportQuery = RangeQuery & {
  readonly group_by?: string | undefined;
  readonly metrics?: string | undefined;
  readonly sort?: string | undefined;
  /** One item for each `filters=`. */
  readonly filters: readonly string[];
  readonly limit?: string | undefined;
  readonly offset?: string | undefined;
  readonly currency?: string | undefined;
  readonly format?: string | undefined;
  readonly totals?: string | undefined;
  readonly date_basis?: string | undefined;
  readonly compare?: string | undefined;
  readonly convert?: string | undefined;
};

/** What the answer depends on in addition to the query. */
export type ReportCaller = {
  readonly role: ReportRole;
  readonly nowMs: number;
  readonly workspaceTimezone: string;
  readonly workspaceCurrency: string;
};

export type ReportSort =
  | { readonly by: "dimension"; readonly index: number; readonly descending: boolean }
  /** `sql` computes the metric, its value in the other period, or its change. */
  | { readonly by: "metric"; readonly sql: string; readonly descending: boolean };

/** A valid report: the caller may see every name in it. */
export type ReportRequest = {
  readonly range: TimeRange;
  readonly groupBy: readonly Dimension[];
  readonly metrics: readonly Measure[];
  readonly sort: ReportSort;
  readonly filters: readonly ReportFilter[];
  readonly limit: number;
  readonly offset: number;
  readonly currency: string;
  readonly format: "json" | "csv";
  /** Whether a CSV ends with its totals and the note. */
  readonly hasTotals: boolean;
  readonly dateBasis: "conversion" | "click";
  readonly comparison: Comparison | undefined;
  /** Whether money in other currencies is converted. */
  readonly converts: boolean;
};

/** @throws {ApiError} `invalid_parameter` for the first invalid parameter. */
export function parseReportRequest(query: ReportQuery, caller: ReportCaller): ReportRequest {
  const { role } = caller;
  const range = parseRange(query, caller, { defaultPreset: "last30" });
  const groupBy = parseGroupBy(query.group_by, role);
  const comparison = parseComparison(query.compare, range, caller.nowMs);
  return {
    range,
    groupBy,
    metrics: parseMetrics(query.metrics, role),
    sort: parseSort(query.sort, { groupBy, role, isCompared: comparison !== undefined }),
    filters: readFilters(query.filters, role),
    limit: parseInteger("limit", query.limit, {
      min: 1,
      max: LIMIT_MAX,
      defaultValue: LIMIT_DEFAULT,
    }),
    offset: parseInteger("offset", query.offset, { min: 0, max: OFFSET_MAX, defaultValue: 0 }),
    currency: parseCurrency(query.currency, caller.workspaceCurrency),
    format: oneOf("format", query.format, ["json", "csv"]),
    hasTotals: oneOf("totals", query.totals, ["1", "0"]) === "1",
    dateBasis: oneOf("date_basis", query.date_basis, ["conversion", "click"]),
    comparison,
    converts: parseConvert(query.convert),
  };
}

/** @throws {ApiError} */
export function parseConvert(given: string | undefined): boolean {
  return oneOf("convert", given, ["0", "1"]) === "1";
}

/** @throws {ApiError} */
export function parseRange(
  query: RangeQuery,
  caller: Pick<ReportCaller, "nowMs" | "workspaceTimezone">,
  rules: { readonly defaultPreset: Preset; readonly daysMax?: number },
): TimeRange {
  const { nowMs, workspaceTimezone } = caller;
  const result = resolveRange(query, { nowMs, workspaceTimezone, ...rules });
  if (result.kind === "refused") throw invalidParameter(result.param, result.message);
  return result.range;
}

/** Default: all metrics that the role may see (G68). @throws {ApiError} */
export function parseMetrics(given: string | undefined, role: ReportRole): readonly Measure[] {
  const names = namesOf(given);
  if (names.length === 0) return measuresOf(role);
  return names.map((name) => {
    const measure = findMeasure(name, role);
    if (measure !== undefined) return measure;
    const known = measureNames(role);
    throw invalidParameter(
      "metrics",
      `unknown metric "${name}"; known metrics: ${known.join(", ")}`,
    );
  });
}

/** @throws {ApiError} */
export function readFilters(given: readonly string[], role: ReportRole): readonly ReportFilter[] {
  const filters = parseFilters(given, role);
  if (typeof filters === "string") throw invalidParameter("filters", filters);
  return filters;
}

/** @throws {ApiError} */
export function parseCurrency(given: string | undefined, defaultValue: string): string {
  if (given === undefined || given === "") return defaultValue;
  if (!isCurrency(given)) {
    throw invalidParameter("currency", "expected a currency code of ISO 4217");
  }
  return given;
}

/** @throws {ApiError} */
function parseInteger(
  param: string,
  given: string | undefined,
  {
    min,
    max,
    defaultValue,
  }: { readonly min: number; readonly max: number; readonly defaultValue: number },
): number {
  if (given === undefined) return defaultValue;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidParameter(param, `expected a whole number from ${min} to ${max}`);
}

/** The first word is the default. @throws {ApiError} */
export function oneOf<Word extends string>(
  param: string,
  given: string | undefined,
  words: readonly [Word, ...Word[]],
): Word {
  if (given === undefined) return words[0];
  const found = words.find((word) => word === given);
  if (found === undefined) throw invalidParameter(param, `expected ${words.join(" or ")}`);
  return found;
}

function parseGroupBy(given: string | undefined, role: ReportRole): readonly Dimension[] {
  const names = namesOf(given);
  if (names.length > GROUP_BY_MAX) {
    throw invalidParameter("group_by", `at most ${GROUP_BY_MAX} dimensions`);
  }
  return names.map((name) => {
    const dimension = findDimension(name, role);
    if (dimension !== undefined) return dimension;
    const known = dimensionNames(role).join(", ");
    throw invalidParameter("group_by", `unknown dimension "${name}"; known dimensions: ${known}`);
  });
}

/** SQL of what a report with a comparison is sorted by, by the word before the metric. */
const COMPARED = { previous: previousOf, change: changeOf } as const;

function parseSort(
  given: string | undefined,
  of: {
    readonly groupBy: readonly Dimension[];
    readonly role: ReportRole;
    readonly isCompared: boolean;
  },
): ReportSort {
  const { groupBy, role, isCompared } = of;
  const text = given === undefined || given === "" ? defaultSort(groupBy[0]) : given;
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text;
  const index = groupBy.findIndex((dimension) => dimension.name === name);
  if (index >= 0) return { by: "dimension", index, descending };
  const sql = sqlOfSort(name, role, isCompared);
  if (sql !== undefined) return { by: "metric", sql, descending };
  throw invalidParameter("sort", `"${name}" is neither a metric nor a dimension of group_by`);
}

/** Time goes forward; everything else begins with the most clicks. */
function defaultSort(first: Dimension | undefined): string {
  return first !== undefined && isTime(first.kind) ? first.name : "-clicks";
}

function sqlOfSort(name: string, role: ReportRole, isCompared: boolean): string | undefined {
  const [, word = "", metric = ""] = /^(previous|change)\.(.*)$/.exec(name) ?? ["", "", name];
  const sql = findMeasure(metric, role)?.sql;
  if (sql === undefined || word === "") return sql;
  if (!isCompared) return undefined;
  return word === "previous" ? COMPARED.previous(sql) : COMPARED.change(sql);
}

/** Each name once, in the order given. */
function namesOf(given: string | undefined): string[] {
  const names = (given ?? "").split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

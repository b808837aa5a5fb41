import { mondayOf, parseDay } from "../../schemas/time/calendar.ts";
import { HOUR_MS } from "../../schemas/time/zone.ts";
import { isCurrency } from "../rest/iso-codes.ts";
import { DELAY_STEPS } from "./delay-steps.ts";
import {
  type Dimension,
  dimensionNames,
  emptyValueOf,
  findDimension,
  isTime,
} from "./dimensions.ts";
import type { ReportRole } from "./report-scope.ts";

export const FILTER_OPERATORS = [
  "in",
  "not_in",
  "contains",
  "not_contains",
  "starts_with",
  "empty",
  "not_empty",
] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** One term; terms are combined with "and". Ids and parts of time are numbers, all else is text, also codes until they are replaced. */
export type ReportFilter = {
  readonly dimension: Dimension;
  readonly operator: FilterOperator;
  readonly values: readonly (string | number)[];
};

export const FILTER_TERMS_MAX = 30;
const CODE = /^[A-Za-z0-9._~-]{1,64}$/;
/** Places of a clock and of a week. */
const PLACES = { hour_of_day: /^(1?\d|2[0-3])$/, weekday: /^[1-7]$/ } as const;
const VALUES_MAX = 1_000;
const VALUE_LENGTH_MAX = 2_048;
const ID_MAX = 4_294_967_295;
const ALIASES: ReadonlyMap<string, FilterOperator> = new Map([
  ["eq", "in"],
  ["ne", "not_in"],
]);
/** Operators that compare characters, so they need text. */
const LETTERS: ReadonlySet<FilterOperator> = new Set(["contains", "not_contains", "starts_with"]);
const WITHOUT_VALUE: ReadonlySet<FilterOperator> = new Set(["empty", "not_empty"]);

/**
 * Reads `dimension:operator:value1|value2` terms, separated by commas or repeated (G67). If a term is invalid, returns why as text.
 */
export function parseFilters(
  given: readonly string[],
  role: ReportRole,
): readonly ReportFilter[] | string {
  const terms = given.flatMap((text) => text.split(",")).filter((term) => term !== "");
  if (terms.length > FILTER_TERMS_MAX) return `at most ${FILTER_TERMS_MAX} terms`;
  const filters: ReportFilter[] = [];
  for (const term of terms) {
    const filter = parseTerm(term, role);
    if (typeof filter === "string") return filter;
    const wrong = wrongCurrency(filter);
    if (wrong !== undefined) return `"${wrong}" in "${term}" is not an ISO 4217 currency code`;
    filters.push(filter);
  }
  return filters;
}

/** The operators that a filter on the dimension may use. */
export function operatorsOf({ kind }: Dimension): FilterOperator[] {
  return FILTER_OPERATORS.filter(
    (operator) =>
      (kind === "text" || !LETTERS.has(operator)) && !(isTime(kind) && WITHOUT_VALUE.has(operator)),
  );
}

/** Whether a source without the dimension, whose value is therefore empty, passes the filter. */
export function emptyPasses({ dimension, operator, values }: ReportFilter): boolean {
  const empty = emptyValueOf(dimension.kind);
  switch (operator) {
    case "in":
      return values.includes(empty);
    case "not_in":
      return !values.includes(empty);
    case "contains":
    case "starts_with":
      return values.includes("");
    case "not_contains":
      return !values.includes("");
    case "empty":
      return true;
    case "not_empty":
      return false;
  }
}

function parseTerm(term: string, role: ReportRole): ReportFilter | string {
  const [name = "", word = "", ...rest] = term.split(":");
  const dimension = findDimension(name, role);
  if (dimension === undefined)
    return `unknown dimension in "${term}"; known dimensions: ${dimensionNames(role).join(", ")}`;
  const operator = ALIASES.get(word) ?? FILTER_OPERATORS.find((known) => known === word);
  if (operator === undefined)
    return `unknown operator in "${term}"; known operators: ${FILTER_OPERATORS.join(", ")}`;
  const list = rest.join(":");
  const mayUse = operatorsOf(dimension).includes(operator);
  if (WITHOUT_VALUE.has(operator)) {
    return list === "" && mayUse
      ? { dimension, operator, values: [] }
      : `"${operator}" has no value and does not apply to dates`;
  }
  if (!mayUse) return `"${operator}" applies to text only`;
  const values = parseValues(dimension, list, role);
  if (values === undefined) return `expected 1 to ${VALUES_MAX} values of ${name} in "${term}"`;
  return { dimension, operator, values };
}

/** A full value that is not a currency code would match nothing, which looks like "no data". */
function wrongCurrency({ dimension, operator, values }: ReportFilter): string | undefined {
  if (dimension.name !== "currency" || LETTERS.has(operator)) return undefined;
  return values.map(String).find((code) => code !== "" && !isCurrency(code));
}

function parseValues(
  dimension: Dimension,
  list: string,
  role: ReportRole,
): (string | number)[] | undefined {
  const texts = list.split("|").map(decodeValue);
  if (list === "" || texts.length > VALUES_MAX) return undefined;
  const values = texts.map((text) =>
    mayBeCode(dimension, text, role) ? text : parseValue(dimension, text),
  );
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Values that contain a separator are percent-encoded once more. A stray percent sign means itself. */
function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** Offers and partners may be named by their codes, which filter-codes.ts replaces by ids. Digits are an id. */
function mayBeCode({ entity }: Dimension, text: string, role: ReportRole): boolean {
  // A code would reveal to an advertiser which of its partners is which.
  const hasCode = entity === "offer" || (entity === "affiliate" && role !== "advertiser");
  return hasCode && CODE.test(text) && !/^-?\d+$/.test(text);
}

function parseValue({ name, kind }: Dimension, text: string): string | number | undefined {
  if (text.length > VALUE_LENGTH_MAX) return undefined;
  switch (kind) {
    case "id":
      return /^\d{1,10}$/.test(text) && Number(text) <= ID_MAX ? Number(text) : undefined;
    case "flag":
      return parseFlag(text);
    case "date":
      return parseDay(text);
    case "week": {
      const day = parseDay(text);
      return day === undefined ? undefined : mondayOf(day);
    }
    case "month": {
      const day = parseDay(`${text}-01`);
      return day === undefined ? undefined : Number(text.replace("-", ""));
    }
    case "hour": {
      const atMs = /^\d{4}-\d{2}-\d{2}T\d{2}:00$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
      return Number.isNaN(atMs) ? undefined : atMs / HOUR_MS;
    }
    case "hour_of_day":
    case "weekday":
      return PLACES[kind].test(text) ? Number(text) : undefined;
    case "delay":
      return parseDelay(text);
    case "hour_start":
      return undefined;
    case "text":
      // Codes are stored in upper case.
      return name === "country" || name === "currency" ? text.toUpperCase() : text;
  }
}

function parseDelay(text: string): number | undefined {
  if (text === "") return 0;
  const index = DELAY_STEPS.findIndex(({ name }) => name === text);
  return index < 0 ? undefined : index + 1;
}

function parseFlag(text: string): string | undefined {
  if (text === "true" || text === "1") return "true";
  if (text === "false" || text === "0") return "false";
  return text === "" ? "" : undefined;
}

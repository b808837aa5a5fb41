import { nearestName } from "../../schemas/names/nearest-name.ts";
import { isoWeek, mondayOf, parseDay, weekdayName } from "../../schemas/time/calendar.ts";
import { HOUR_MS } from "../../schemas/time/zone.ts";
import { closedValue, nearestValue, OPEN_LISTS } from "./closed-values.ts";
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
/** Longest name of a record, and how much of an unknown value a refusal repeats. */
const NAME_LENGTH_MAX = 255;
const SHOWN_LENGTH_MAX = 64;
const DAYS_OF_WEEK = 7;
/** 5 January 1970 was a Monday. */
const WEEKDAYS = Array.from({ length: DAYS_OF_WEEK }, (_, index) => weekdayName(index + 4));
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
  const values = parseValues(dimension, list, { role, isWhole: !LETTERS.has(operator) });
  if (typeof values === "string") return `${values} in "${term}"`;
  return { dimension, operator, values };
}

/** How values are compared: a part of a value belongs to no list. */
type Comparing = { readonly role: ReportRole; readonly isWhole: boolean };

/** Text says why they are refused. */
function parseValues(
  dimension: Dimension,
  list: string,
  comparing: Comparing,
): (string | number)[] | string {
  const texts = list.split("|").map(decodeValue);
  const refusal = `expected 1 to ${VALUES_MAX} values of ${dimension.name}`;
  if (list === "" || texts.length > VALUES_MAX) return refusal;
  const values: (string | number)[] = [];
  for (const text of texts) {
    const value = mayBeName(dimension, text, comparing.role)
      ? text
      : parseValue(dimension, text, comparing);
    if (value === undefined) return unknownValue(dimension, text) ?? refusal;
    values.push(value);
  }
  return values;
}

/** An unknown value would match nothing, which looks like "no data" (G238). Undefined for a dimension whose values are no list. */
function unknownValue({ name, kind }: Dimension, text: string): string | undefined {
  const nearest =
    kind === "weekday"
      ? nearestName(text, WEEKDAYS)
      : kind === "delay"
        ? nearestName(
            text,
            DELAY_STEPS.map((step) => step.name),
          )
        : nearestValue(name, text);
  return nearest === undefined
    ? undefined
    : `unknown ${name} "${text.slice(0, SHOWN_LENGTH_MAX)}", nearest: ${nearest},`;
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

/**
 * Records may be named by their codes and names, which filter-codes.ts replaces by ids. Digits are an id. An advertiser knows no partner
 * by name: a code would reveal which of its partners is which.
 */
function mayBeName({ kind, entity }: Dimension, text: string, role: ReportRole): boolean {
  if (kind !== "id" || text.trim() === "" || text.length > NAME_LENGTH_MAX) return false;
  const hasName = entity !== "affiliate" || role !== "advertiser";
  return hasName && !/^-?\d+$/.test(text);
}

function parseValue(
  { name, kind }: Dimension,
  text: string,
  { isWhole }: Comparing,
): string | number | undefined {
  if (text.length > VALUE_LENGTH_MAX) return undefined;
  switch (kind) {
    case "id":
      return parseId(text);
    case "flag":
      return parseFlag(text);
    case "date":
      return parseDay(text);
    case "week": {
      const day = parseDay(text) ?? mondayOfWeek(text);
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
      return parsePlace(text.replace(/^0?(\d{1,2}):00$/, "$1"), kind);
    case "weekday":
      return parseWeekday(text) ?? parsePlace(text, kind);
    case "delay":
      return parseDelay(text);
    case "hour_start":
      return undefined;
    case "text":
      return isWhole ? wholeText(name, text) : partOfText(name, text);
  }
}

function wholeText(name: string, text: string): string | undefined {
  const value = closedValue(name, text);
  // Looked up in the table (stored-names.ts).
  return value === undefined && OPEN_LISTS.some((open) => open === name) ? text : value;
}

/** Codes are stored in upper case. */
function partOfText(name: string, text: string): string {
  return name === "country" || name === "currency" ? text.toUpperCase() : text;
}

/** An advertiser's reports call partners "Partner 12" (G66). */
function parseId(text: string): number | undefined {
  const [, id = text] = /^partner (\d+)$/i.exec(text) ?? [];
  return /^\d{1,10}$/.test(id) && Number(id) <= ID_MAX ? Number(id) : undefined;
}

function parsePlace(text: string, kind: keyof typeof PLACES): number | undefined {
  return PLACES[kind].test(text) ? Number(text) : undefined;
}

function parseWeekday(text: string): number | undefined {
  const index = WEEKDAYS.findIndex((name) => name.toLowerCase() === text.trim().toLowerCase());
  return index < 0 ? undefined : index + 1;
}

/** The Monday of a week as reports label it, such as 2025-W05. */
function mondayOfWeek(text: string): number | undefined {
  const [, year, week] = /^(\d{4})-W(\d{2})$/i.exec(text) ?? [];
  // The fourth of January is always in the first week.
  const first = year === undefined ? undefined : parseDay(`${year}-01-04`);
  if (first === undefined) return undefined;
  const monday = mondayOf(first) + (Number(week) - 1) * DAYS_OF_WEEK;
  return isoWeek(monday).toLowerCase() === text.toLowerCase() ? monday : undefined;
}

function parseDelay(text: string): number | undefined {
  if (text === "") return 0;
  const given = text.trim().toLowerCase();
  const index = DELAY_STEPS.findIndex(
    ({ name, label }) => name === given || label.toLowerCase() === given,
  );
  return index < 0 ? undefined : index + 1;
}

function parseFlag(text: string): string | undefined {
  if (text === "true" || text === "1") return "true";
  if (text === "false" || text === "0") return "false";
  return text === "" ? "" : undefined;
}

import type { CountedList } from "../figures/role-figures.ts";
import { withFilters } from "./filters.ts";
import { type Period, rangeParams } from "./period.ts";

/** Where the rows are that a figure counts, or why they cannot be listed. */
export type RowsBehind =
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "none"; readonly why: string };

type Counted = {
  /** The role's lists. */
  readonly lists: Readonly<Record<string, CountedList>>;
  readonly metric: string;
  readonly period: Period;
  /** Filters of the report and of the cell. */
  readonly filters: readonly string[];
  readonly dateBasis?: "conversion" | "click";
};

/** Presets that may be longer than the days that a filtered list may have. */
const LONG: ReadonlySet<string> = new Set([
  "last90",
  "this_quarter",
  "last_quarter",
  "this_year",
  "last_year",
]);
const DAYS_MAX = 31;
/** Conversions lie in order of their offers, so a list of named offers may have more days. */
const OFFER_DAYS_MAX = 400;
const DAY_MS = 86_400_000;

/**
 * The list of the rows that a cell counts: same filters, same range. Its `filters` are always sent, also if there are none, because with
 * them a list counts as a report does. A cell of one day asks for this day alone.
 */
export function rowsBehind({ lists, metric, period, filters, dateBasis }: Counted): RowsBehind {
  const counted = lists[metric];
  if (counted === undefined) return { kind: "none", why: "No list has rows for this figure" };
  const { list, only } = counted;
  const { range, rest } = dayIn(filters, period);
  const isOfOffers = list === "/conversions" && rest.some((one) => one.startsWith("offer:in:"));
  const daysMax = isOfOffers ? OFFER_DAYS_MAX : DAYS_MAX;
  if (isLonger(range, daysMax))
    return { kind: "none", why: `Rows are listed for at most ${daysMax} days. Choose fewer.` };
  const params = new URLSearchParams({
    ...rangeParams({ range }),
    filters: withFilters(rest, only).join(","),
    ...(list === "/conversions" && dateBasis === "click" ? { date_basis: dateBasis } : {}),
  });
  return { kind: "list", path: `${list}?${params.toString()}` };
}

/** The one day that a filter names, as the range. */
function dayIn(
  filters: readonly string[],
  { range }: Period,
): { readonly range: Period["range"]; readonly rest: readonly string[] } {
  const [day, ...others] = filters.flatMap((one) => /^date:in:([\d-]{10})$/.exec(one)?.[1] ?? []);
  if (day === undefined || others.length > 0) return { range, rest: filters };
  if ("from" in range && (day < range.from || day > range.to)) return { range, rest: filters };
  return { range: { from: day, to: day }, rest: filters.filter((one) => one !== `date:in:${day}`) };
}

function isLonger(range: Period["range"], daysMax: number): boolean {
  // No preset is longer than a year.
  if ("preset" in range) return daysMax < OFFER_DAYS_MAX && LONG.has(range.preset);
  return (Date.parse(range.to) - Date.parse(range.from)) / DAY_MS >= daysMax;
}

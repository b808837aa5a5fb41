import type { Figure } from "../format/figure.ts";

/**
 * The filter that a row of a report stands for, in the grammar of the API. Values may contain the signs of the grammar, so they are encoded
 * once more. A row without the dimension has the empty value, which has an operator of its own; 0 is an ID that nothing has.
 */
export function filterFor(dimension: string, value: Figure | undefined): string {
  const text = String(value ?? "");
  return text === "" ? `${dimension}:empty` : `${dimension}:in:${encodeURIComponent(text)}`;
}

/** Adds filters, each once. */
export function withFilters(filters: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...filters, ...more])];
}

/** Filters as they stand in an address. */
export function filtersIn(search: URLSearchParams): string[] {
  return (search.get("filters") ?? "").split(",").filter((one) => one !== "");
}

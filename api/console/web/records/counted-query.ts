import type { Query } from "../client/lists.ts";
import { rangeQuery } from "./record-range.ts";

/** Parameters of a list that a figure of a report opened, by which the figure counted. Empty filters count, too. */
const COUNTED = ["filters", "date_basis"];

/** Range and filters of a list as the address has them. */
export function countedQuery(search: URLSearchParams): Query {
  const counted = COUNTED.flatMap((name) => {
    const value = search.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...rangeQuery(search), ...Object.fromEntries(counted) };
}

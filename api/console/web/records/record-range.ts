import { rangeParams, readPeriod } from "../address/period.ts";
import type { Query } from "../client/lists.ts";

/** The range in the address as parameters of a list: lists know neither comparison nor currency. */
export function rangeQuery(search: URLSearchParams): Query {
  return rangeParams(readPeriod(search).period);
}

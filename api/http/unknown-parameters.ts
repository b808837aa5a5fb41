import { type ParsedUrlQuery, parse } from "node:querystring";
import { nearestName } from "../../schemas/names/nearest-name.ts";
import { ApiError, invalidParameter } from "../operation/errors.ts";

/** Maximum number of names in one message. The caller gets the rest after correcting these. */
const NAMED_MAX = 5;
const SHOWN_CHARACTERS_MAX = 64;
/** Parameters of one request, repeated ones included. */
const PARAMETERS_MAX = 300;

/** The parameters of a query. Too many are not read, because it would take long: `refuseManyParameters` then refuses the request (G213). */
export function parseQuery(text: string): ParsedUrlQuery {
  return hasTooMany(text) ? {} : parse(text);
}

/** @throws {ApiError} `invalid_parameter` */
export function refuseManyParameters(url: string): void {
  if (hasTooMany(url))
    throw invalidParameter("query", `expected at most ${PARAMETERS_MAX} parameters`);
}

function hasTooMany(query: string): boolean {
  let parameters = 1;
  for (let at = query.indexOf("&"); at >= 0; at = query.indexOf("&", at + 1)) parameters += 1;
  return parameters > PARAMETERS_MAX;
}

/** Cache busters such as `_` and `_ts` are ignored. No parameter of ours begins with `_`. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith("_");
}

/**
 * Refuses query parameters that an operation does not have. Otherwise a caller who misnames a filter would take the unfiltered
 * answer for the filtered one (G14).
 *
 * @throws {ApiError} `invalid_parameter` with every unknown name and its nearest known one; `details.param` is the first.
 */
export function refuseUnknownParameters(given: readonly string[], known: readonly string[]): void {
  const unknown = given.filter((name) => !known.includes(name) && !isIgnoredName(name));
  const [first] = unknown;
  if (first === undefined) return;
  const named = unknown
    .slice(0, NAMED_MAX)
    .map((name) => `"${shownName(name)}"${nearestHint(name, known)}`);
  const more = unknown.length - named.length;
  const list = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  throw new ApiError(
    "invalid_parameter",
    `unknown query parameter ${list}${known.length === 0 ? "; this path accepts none" : ""}`,
    {
      details: { param: shownName(first) },
    },
  );
}

/** Suffix for an unknown name in a message; "" when no name is known. */
export function nearestHint(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : ` (the nearest known one is "${nearest}")`;
}

/** The name, cut to a length that suits a message. */
export function shownName(name: string): string {
  return name.length > SHOWN_CHARACTERS_MAX ? `${name.slice(0, SHOWN_CHARACTERS_MAX)}…` : name;
}

import { encodeValue } from "../../schemas/macros/expand.ts";
import { decodeComponent } from "../request/decode.ts";
import { LOCATION_LENGTH_MAX } from "./destination.ts";

/**
 * The location with further parameters at the end of its query. A parameter that the location has already keeps its value, and a parameter
 * that would make the location too long is left out, because a visitor's parameters must not cost the visitor the page.
 */
export function withParameters(
  location: string,
  parameters: readonly (readonly [name: string, value: string])[],
): string {
  if (parameters.length === 0) return location;
  const hash = location.indexOf("#");
  const base = hash < 0 ? location : location.slice(0, hash);
  const names = namesIn(base);
  let added = "";
  for (const [name, value] of parameters) {
    if (names.has(name)) continue;
    const pair = `&${encodeValue(name)}=${encodeValue(value)}`;
    if (location.length + added.length + pair.length <= LOCATION_LENGTH_MAX) added += pair;
  }
  if (added === "") return location;
  const begin = base.includes("?") ? (/[?&]$/.test(base) ? "" : "&") : "?";
  return base + begin + added.slice(1) + (hash < 0 ? "" : location.slice(hash));
}

function namesIn(url: string): ReadonlySet<string> {
  const mark = url.indexOf("?");
  if (mark < 0) return new Set();
  const pairs = url.slice(mark + 1).split("&");
  return new Set(pairs.map((pair) => decodeComponent(pair.split("=", 1)[0] ?? "")));
}

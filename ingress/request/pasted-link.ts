import { encodeValue } from "../../schemas/macros/expand.ts";
import type { RawRequest } from "../route.ts";
import { decodePercent } from "./decode.ts";

type Target = Pick<RawRequest, "path" | "query">;

/** Where the query begins, if its question mark was lost, encoded or replaced. */
const SEPARATOR = /[&?]|%26|%3f/i;
/** Blanks, also without width, and marks that only direct or join text. No code contains them. */
const BLANKS = /[\p{Cf}\p{Z}\p{Cc}]/gu;
/** What text puts behind a link: `/ . , )` and quotes. A code may end in `_`, `~` or `-`. */
const BEHIND = /[^A-Za-z0-9_~-]+$/;

/**
 * The request as it was before people and programs copied its link, for a look-up that has failed with the link as sent (G241). Undefined
 * when nothing is different.
 */
export function straightened({ path, query }: Target): Target | undefined {
  const at = path.search(SEPARATOR);
  const mark = SEPARATOR.exec(path)?.[0] ?? "";
  const segments = segmentsOf(at < 0 ? path : path.slice(0, at));
  if (segments.length === 0) return undefined;
  const [first = "", ...others] = segments;
  const straightPath = `/${[first.toLowerCase(), ...others].join("/")}`;
  const behind = at < 0 ? "" : path.slice(at + mark.length);
  // A query behind an encoded mark was encoded with it.
  const lost = mark.length > 1 ? decodePercent(behind) : behind;
  const straightQuery = [lost, query].filter((part) => part !== "").join("&");
  const isSame = straightPath === path && straightQuery === query;
  return isSame ? undefined : { path: straightPath, query: straightQuery };
}

/** A code as it was before it was copied; "" for a text without one. */
export function straightCode(code: string): string {
  return code.replace(BLANKS, "").replace(BEHIND, "");
}

function segmentsOf(path: string): string[] {
  return decodePercent(path)
    .replace(BLANKS, "")
    .replace(BEHIND, "")
    .split("/")
    .filter((segment) => segment !== "")
    .map(encodeValue);
}

import { type Header, jsonAnswer, NO_INDEX, NO_STORE } from "../answers.ts";
import { visitCookies } from "../request/visit-cookie.ts";
import type { Answer } from "../route.ts";
import { VisitorRedirect } from "../visitor-redirect.ts";

/** Shows neither brand nor reason (G150). */
const NEUTRAL_PAGE =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex">' +
  '<meta name="viewport" content="width=device-width"><title>Link not available</title></head>' +
  "<body><p>This link is not available.</p></body></html>\n";

/** 302 to `location`, or the neutral page without a location. Each call is a click, so no answer may be cached (TRK-046). */
export function visitorAnswer(
  location: string,
  visitor: { clickId: string; isHttps: boolean; cookie: string },
): Answer {
  const cookies =
    visitor.clickId === "" ? [] : visitCookies(visitor.clickId, visitor.isHttps, visitor.cookie);
  if (location !== "") return new VisitorRedirect(location, cookies);
  const type: Header = ["Content-Type", "text/html; charset=utf-8"];
  const set = cookies.map((value): Header => ["Set-Cookie", value]);
  return { status: 200, headers: [type, NO_STORE, NO_INDEX, ...set], body: NEUTRAL_PAGE };
}

/** `{"error": "<code>"}` (G136): a refusal of 7.3 or another code of ours, never text of the visitor. */
export function linkError(status: number, error: string, ...headers: Header[]): Answer {
  return jsonAnswer(status, { error }, NO_INDEX, ...headers);
}

/** For an existing path that does not accept the method. */
export function methodNotAllowed(methods: readonly string[]): Answer {
  return linkError(405, "method_not_allowed", ["Allow", methods.join(", ")]);
}

/** Without a catalog no link can be found and no ID minted. Nothing is decided, and the caller may try again. */
export function notLoaded(): Answer {
  return linkError(503, "configuration not loaded", ["Retry-After", "5"]);
}

import { type Header, HTML_TYPE, jsonAnswer, NO_INDEX, NO_STORE } from "../answers.ts";
import { visitCookies } from "../request/visit-cookie.ts";
import type { Answer } from "../route.ts";
import { HOST_PAGE, UNAVAILABLE_PAGE } from "../visitor-pages.ts";
import { VisitorRedirect } from "../visitor-redirect.ts";

/** 302 to `location`, or the neutral page without a location. Each call is a click, so no answer may be cached (TRK-046). */
export function visitorAnswer(
  location: string,
  visitor: { clickId: string; isHttps: boolean; cookie: string },
): Answer {
  const cookies =
    visitor.clickId === "" ? [] : visitCookies(visitor.clickId, visitor.isHttps, visitor.cookie);
  if (location !== "") return new VisitorRedirect(location, cookies);
  const set = cookies.map((value): Header => ["Set-Cookie", value]);
  return { status: 200, headers: [HTML_TYPE, NO_STORE, NO_INDEX, ...set], body: UNAVAILABLE_PAGE };
}

/** `{"error": "<code>"}` (G136): a refusal of 7.3 or another code of ours, never text of the visitor. */
export function linkError(status: number, error: string, ...headers: Header[]): Answer {
  return jsonAnswer(status, { error }, NO_INDEX, ...headers);
}

/** The same for a link that a visitor follows: in a browser they see a page without the reason. */
export function visitorError(status: number, error: string): Answer {
  return { ...linkError(status, error), page: UNAVAILABLE_PAGE };
}

/** The bare host: people may look at the address of a link without its path. */
export const HOST_ANSWER: Answer = {
  ...jsonAnswer(200, { message: "this address serves links" }, NO_INDEX),
  page: HOST_PAGE,
};

const ROBOTS = `User-agent: Twitterbot
User-agent: facebookexternalhit
User-agent: LinkedInBot
User-agent: Pinterestbot
Allow: /

User-agent: *
Disallow: /
`;

/**
 * `/robots.txt`: search engines must not follow links, because each would be a click. Programs that make the preview of a link in a post
 * may: without the preview nobody would click the link (G243).
 */
export const ROBOTS_ANSWER: Answer = {
  status: 200,
  headers: [
    ["Content-Type", "text/plain; charset=utf-8"],
    ["Cache-Control", "public, max-age=86400"],
  ],
  body: ROBOTS,
};

/** For an existing path that does not accept the method. */
export function methodNotAllowed(methods: readonly string[]): Answer {
  return linkError(405, "method_not_allowed", ["Allow", methods.join(", ")]);
}

/** Without a catalog no link can be found and no ID minted. Nothing is decided, and the caller may try again. */
export function notLoaded(): Answer {
  return linkError(503, "configuration not loaded", ["Retry-After", "5"]);
}

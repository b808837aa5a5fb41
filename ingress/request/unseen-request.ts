import type { RawRequest } from "../route.ts";

const AHEAD = /prefetch|prerender|preview/i;
/** Requests for a page of its own, and those of scripts, such as beacons. Every other kind is a part of another page. */
const OWN_PAGES: ReadonlySet<string> = new Set(["", "document", "empty"]);

/**
 * Whether nobody sees where the request leads: a browser fetches it ahead of a visit that may never come, or as an image, a script, a
 * style or a frame of another page (G240).
 */
export function isUnseenRequest({ purpose, secFetchDest }: RawRequest["headers"]): boolean {
  return (purpose !== "" && AHEAD.test(purpose)) || !OWN_PAGES.has(secFetchDest);
}

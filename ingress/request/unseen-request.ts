import type { RawRequest } from "../route.ts";

const AHEAD = /prefetch|prerender|preview/i;

/**
 * Whether nobody sees where the request leads: a browser fetches it ahead of a visit that may never come, or as an image, a script, a
 * style or a frame of another page (G240).
 */
export function isUnseenRequest({ purpose, secFetchDest }: RawRequest["headers"]): boolean {
  if (purpose !== "" && AHEAD.test(purpose)) return true;
  // `document` is a page of its own, `empty` a request of a script, such as a beacon. Every other kind is a part of another page.
  return secFetchDest !== "" && secFetchDest !== "document" && secFetchDest !== "empty";
}

import type { Answer } from "./route.ts";

export type Header = Answer["headers"][number];

/** Each answer belongs to one request, so no cache may keep it. */
export const NO_STORE: Header = ["Cache-Control", "no-store"];
/** Links are not content: search engines leave them out. */
export const NO_INDEX: Header = ["X-Robots-Tag", "noindex"];
export const HTML_TYPE: Header = ["Content-Type", "text/html; charset=utf-8"];
const JSON_TYPE: Header = ["Content-Type", "application/json; charset=utf-8"];

/** A JSON answer with its usual headers, then `headers`. */
export function jsonAnswer(status: number, body: unknown, ...headers: Header[]): Answer {
  return { status, headers: [JSON_TYPE, NO_STORE, ...headers], body: JSON.stringify(body) };
}

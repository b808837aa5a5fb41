import type { Answer } from "./route.ts";

export type Header = Answer["headers"][number];

/** Every answer is about one request: none may come from a cache. */
export const NO_STORE: Header = ["Cache-Control", "no-store"];
const JSON_TYPE: Header = ["Content-Type", "application/json; charset=utf-8"];

/** `headers` stand behind those of every JSON answer. */
export function jsonAnswer(status: number, body: unknown, ...headers: Header[]): Answer {
  return { status, headers: [JSON_TYPE, NO_STORE, ...headers], body: JSON.stringify(body) };
}

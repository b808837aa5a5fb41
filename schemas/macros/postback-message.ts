import { escapeMarkup } from "./escape-markup.ts";
import { expandTemplate, expandUrlTemplate } from "./expand.ts";
import type { PostbackMacro } from "./macro-names.ts";
import { parseTemplate } from "./template.ts";

/** What somebody wrote about a postback. */
export type PostbackTemplate = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string;
};

/** A postback with its macros filled in. */
export type PostbackMessage = {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly body: string;
  /** Media type of the body; "" without one. */
  readonly type: string;
};

/** A postback as a request. */
export type PostbackCall = {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The error of a URL that is none once its macros are filled in (PBO-025). */
export const INVALID_POSTBACK_URL = "invalid postback URL";

const HTTP_URL = /^https?:\/\//i;
const USER_AGENT = "Tracker-Postback/1.0";
/** How values in a body are escaped, by the beginning of the body. A brace before a name is a macro and not JSON. */
const BODY_FORMS = [
  { begins: /^\s*(?:\{\s*["}]|\[)/, type: "application/json", write: jsonText },
  { begins: /^\s*</, type: "application/xml", write: escapeMarkup },
  { begins: /^[^\s=&]+=/, type: "application/x-www-form-urlencoded", write: undefined },
] as const;

type ValueOf = (macro: PostbackMacro) => string;

/** Fills in the macros of a postback. A GET has no body (PBO-022). */
export function expandPostback(
  { method, url: template, body }: PostbackTemplate,
  macros: readonly PostbackMacro[],
  valueOf: ValueOf,
): PostbackMessage | { readonly invalidUrl: string } {
  const text = expandUrlTemplate(parseTemplate(template, macros), valueOf);
  if (!HTTP_URL.test(text) || !URL.canParse(text)) return { invalidUrl: text };
  const url = new URL(text);
  if (method === "GET") return { method, url, body: "", type: "" };
  return { method, url, ...expandBody(body, macros, valueOf) };
}

/** @param more further headers */
export function postbackCall(
  { method, url, body, type }: PostbackMessage,
  more: Readonly<Record<string, string>>,
): PostbackCall {
  const headers = {
    "user-agent": USER_AGENT,
    ...more,
    ...(body === "" ? {} : { "content-type": type }),
  };
  return method === "GET" ? { method, url, headers } : { method, url, headers, body };
}

function expandBody(
  body: string,
  macros: readonly PostbackMacro[],
  valueOf: ValueOf,
): { readonly body: string; readonly type: string } {
  const template = parseTemplate(body, macros);
  const form = BODY_FORMS.find(({ begins }) => begins.test(body));
  if (form === undefined)
    return { body: expandTemplate(template, valueOf), type: "text/plain; charset=utf-8" };
  const { write, type } = form;
  if (write === undefined) return { body: expandUrlTemplate(template, valueOf), type };
  return { body: expandTemplate(template, (macro) => write(valueOf(macro))), type };
}

/** The value as it appears inside a JSON string. Numbers are unchanged, so it may also stand outside quotes. */
function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

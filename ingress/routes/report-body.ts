import { READ_PARAMS } from "../../schemas/events/report-aliases.ts";
import { parseSentTexts, REPORT_BOUNDS } from "../../schemas/json/sent-json.ts";
import { plusAsSpace } from "../request/decode.ts";
import { plainName } from "../request/parameters.ts";

/** Parameters of a report, or the reason why they cannot be read. */
export type ReadParameters =
  | { readonly kind: "parameters"; readonly params: Readonly<Record<string, string>> }
  | {
      readonly kind: "malformed";
      readonly error: string;
      /** Those read before the fault. */
      readonly params: Readonly<Record<string, string>>;
    };

export type Multipart = (
  body: Uint8Array,
  contentType: string,
) => readonly { readonly name: string; readonly value: string }[] | undefined;

const PARAMETERS_MAX = 200;
/** Pairs read from a query or a form. Further pairs are repeats or unknown parameters, and cost time to decode. */
const PAIRS_MAX = 1_000;

/**
 * Reads query and body of a report: form, JSON or multipart. The body wins over the query, and the first of several values of a
 * parameter counts (G119).
 */
export function readReportParameters(
  request: { readonly query: string; readonly contentType: string },
  body: Uint8Array,
  multipart: Multipart,
): ReadParameters {
  const params = new Map<string, string>();
  const error =
    (body.length > 0 ? readBody(params, request.contentType, body, multipart) : undefined) ??
    (addPairs(params, request.query) ? undefined : "malformed query");
  const read = Object.fromEntries(params);
  return error === undefined
    ? { kind: "parameters", params: read }
    : { kind: "malformed", error, params: read };
}

function readBody(
  params: Map<string, string>,
  contentType: string,
  body: Uint8Array,
  multipart: Multipart,
): string | undefined {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "multipart/form-data") {
    const boundary = boundaryOf(body, contentType);
    // The parser treats all text after "boundary=" as the boundary, so other parameters of the type are left out.
    const parts =
      boundary === undefined
        ? undefined
        : multipart(body, `multipart/form-data; boundary=${boundary}`);
    if (parts === undefined) return "malformed multipart body";
    for (const { name, value } of parts) add(params, name, value);
    return undefined;
  }
  const text = decodeText(body);
  if (text === undefined) return "unreadable body";
  // Many clients send JSON as text, without a type, or with the type of a form, which curl adds by itself.
  const isJson = type === "application/json" || type.endsWith("+json") || /^\s*\{/.test(text);
  if (isJson) return readJson(params, text);
  return addPairs(params, text.trim()) ? undefined : "malformed form body";
}

/** RFC 2046: at most 70 characters, in quotes where a token cannot contain them. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))\s*(?:;|$)/i;

/**
 * The boundary that the content type announces; undefined when there is none, or when the body does not contain it as a start and
 * an end. The parser reports such a body as one without parts, and it would be answered as a report without parameters.
 */
function boundaryOf(body: Uint8Array, contentType: string): string | undefined {
  const [, quoted, token] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const hasParts = text.indexOf(`--${boundary}`) === 0 || text.includes(`\r\n--${boundary}`);
  return hasParts && text.includes(`--${boundary}--`) ? boundary : undefined;
}

/** Reads one flat object. Numbers and booleans count as their text, numbers with all digits (G22, G218); null counts as absent. A list or an object is ignored where nobody reads it (G223). */
function readJson(params: Map<string, string>, text: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = parseSentTexts(text, REPORT_BOUNDS);
  } catch {
    // The answer names the expected format; the sender must find the fault.
    return "malformed JSON body";
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return "malformed JSON body";
  }
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value === "string") add(params, name, value);
    else if (typeof value === "boolean") add(params, name, String(value));
    else if (value !== null && READ_PARAMS.has(name)) return "malformed JSON body";
  }
  return undefined;
}

/** False if a parameter that is read cannot be decoded. */
function addPairs(params: Map<string, string>, text: string): boolean {
  return text.split("&", PAIRS_MAX).every((pair) => pair === "" || addPair(params, pair));
}

function addPair(params: Map<string, string>, pair: string): boolean {
  const equals = pair.indexOf("=");
  const [sentName, sentValue] =
    equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
  const name = plainName(decode(sentName) ?? sentName);
  const value = decode(sentValue);
  if (value === undefined && READ_PARAMS.has(name)) return false;
  // Nobody reads it, so it refuses no report (G223). The inbound log shows it as it was sent.
  add(params, name, value ?? sentValue);
  return true;
}

function add(params: Map<string, string>, name: string, value: string): void {
  if (params.has(name) || params.size >= PARAMETERS_MAX) return;
  params.set(name, value);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(plusAsSpace(text));
  } catch {
    // A stray percent sign. The caller reports which part was malformed.
    return undefined;
  }
}

function decodeText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

import type { HttpResponse } from "uWebSockets.js";
import type { Answer } from "./route.ts";

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: "200 OK",
  204: "204 No Content",
  302: "302 Found",
  304: "304 Not Modified",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  411: "411 Length Required",
  413: "413 Payload Too Large",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};
type Header = Answer["headers"][number];

const REQUEST_ID = "X-Request-Id";
const HEADER_TEXT = /^[\x20-\x7e\t]*$/;
/**
 * A redirect has a body of one byte. Only with a body does the server report that sent bytes are stuck because the client does
 * not read them (P28).
 */
const REDIRECT_BODY = "\n";

/** Whether the value contains nothing that could end its header (P27). */
export function isSafe(header: Header): boolean {
  return isHeaderText(header[1]);
}

export function isHeaderText(value: string): boolean {
  return HEADER_TEXT.test(value);
}

/**
 * Writes the head of an answer in two calls: each call into the server costs 0.2 µs. Headers must be {@link isSafe}. With "" as `requestId`
 * it does not name the request.
 */
export function writeHead(
  response: HttpResponse,
  { status, headers }: Answer,
  requestId: string,
): void {
  response.writeStatus(STATUS_LINES[status] ?? String(status));
  const [first] = headers;
  if (first === undefined) {
    if (requestId !== "") response.writeHeader(REQUEST_ID, requestId);
    return;
  }
  let value = first[1];
  for (let at = 1; at < headers.length; at += 1) {
    const header = headers[at];
    if (header !== undefined) value += `\r\n${header[0]}: ${header[1]}`;
  }
  if (requestId !== "") value += `\r\n${REQUEST_ID}: ${requestId}`;
  response.writeHeader(first[0], value);
}

/** Ends the response. What the connection does not accept at once is sent later. */
export function endOrWait(response: HttpResponse, body: string | Uint8Array): void {
  const size = lengthOf(body);
  const [, isDone] = response.tryEnd(body, size);
  if (isDone) return;
  const bytes = Buffer.from(body);
  response.onAborted(() => undefined);
  response.onWritable((offset) => response.tryEnd(bytes.subarray(offset), size)[0]);
}

export function bodyOf(answer: Answer): string | Uint8Array {
  return answer.status === 302 && answer.body === "" ? REDIRECT_BODY : answer.body;
}

export function lengthOf(body: string | Uint8Array): number {
  // True for nearly every answer, and saves a call.
  if (body === REDIRECT_BODY) return 1;
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

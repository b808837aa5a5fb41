import type { RawRequest } from "../route.ts";

/** Header lines; several may have the same name. */
export type HeaderLines = {
  /** Lower-case names, in the order in which they came. */
  forEach(each: (name: string, value: string) => void): void;
};

/** The headers that routes read, and those that say where the request ends. */
export type RequestHead = RawRequest["headers"] & {
  readonly contentLengths: number;
  readonly transferEncodings: number;
  /** The first Transfer-Encoding. */
  readonly transferEncoding: string;
  /** Whether a Content-Length or Transfer-Encoding is present and empty. */
  readonly hasEmptyFraming: boolean;
};

const PURPOSES: ReadonlySet<string> = new Set(["sec-purpose", "purpose", "x-purpose", "x-moz"]);

type Writable = { -readonly [Name in keyof RequestHead]: RequestHead[Name] };

/**
 * Reads all headers in one pass. Asking for each by name costs as much, and returns only the first of several lines. Lines of
 * X-Forwarded-For form one chain, in order (RFC 9110 5.3): some proxies add a line of their own after the line that the visitor sent, so a
 * reader of the first line believes the visitor (P33). For other headers the first line counts.
 */
export function readHead(request: HeaderLines): RequestHead {
  head = emptyHead();
  request.forEach(note);
  return head;
}

/** The head of the request being read. {@link note} is made once and not for every request. */
let head: Writable = emptyHead();

// oxlint-disable-next-line complexity -- one case for each header, without a look-up.
function note(name: string, value: string): void {
  switch (name) {
    case "host":
      head.host ||= value;
      return;
    case "user-agent":
      head.userAgent ||= value;
      return;
    case "referer":
      head.referer ||= value;
      return;
    case "accept":
      head.accept ||= value;
      return;
    case "accept-language":
      head.acceptLanguage ||= value;
      return;
    case "x-forwarded-for":
      head.xForwardedFor = head.xForwardedFor === "" ? value : `${head.xForwardedFor},${value}`;
      return;
    case "x-forwarded-proto":
      head.xForwardedProto ||= value;
      return;
    case "via":
      head.via ||= value;
      return;
    case "cookie":
      head.cookie ||= value;
      return;
    case "content-type":
      head.contentType ||= value;
      return;
    case "origin":
      head.origin ||= value;
      return;
    case "if-none-match":
      head.ifNoneMatch ||= value;
      return;
    case "sec-fetch-dest":
      head.secFetchDest ||= value;
      return;
    default:
      noteRareHeader(name, value);
  }
}

/** Headers that clicks rarely have. */
function noteRareHeader(name: string, value: string): void {
  if (name === "content-length") {
    head.contentLengths += 1;
    head.hasEmptyFraming ||= value === "";
  } else if (name === "transfer-encoding") {
    head.transferEncodings += 1;
    head.transferEncoding ||= value;
    head.hasEmptyFraming ||= value === "";
  } else if (name === "idempotency-key") {
    // Two lines are not a valid key: joined, they contain a comma.
    head.idempotencyKey = head.idempotencyKey === "" ? value : `${head.idempotencyKey},${value}`;
  } else if (name === "x-request-id") {
    head.xRequestId ||= value;
  } else if (PURPOSES.has(name)) {
    head.purpose = head.purpose === "" ? value : `${head.purpose},${value}`;
  }
}

function emptyHead(): Writable {
  return {
    host: "",
    userAgent: "",
    referer: "",
    accept: "",
    acceptLanguage: "",
    xForwardedFor: "",
    xForwardedProto: "",
    via: "",
    cookie: "",
    contentType: "",
    origin: "",
    ifNoneMatch: "",
    idempotencyKey: "",
    xRequestId: "",
    purpose: "",
    secFetchDest: "",
    contentLengths: 0,
    transferEncodings: 0,
    transferEncoding: "",
    hasEmptyFraming: false,
  };
}

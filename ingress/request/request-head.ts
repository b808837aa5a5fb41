import type { RawRequest } from "../route.ts";

/** What has header lines, some of them with the same name. */
export type HeaderLines = {
  /** Lower-case names, in the order in which they came. */
  forEach(each: (name: string, value: string) => void): void;
};

/** Header values that routes ask for, and what says where the request ends. */
export type RequestHead = RawRequest["headers"] & {
  readonly contentLengths: number;
  readonly transferEncodings: number;
  /** The first of them. */
  readonly transferEncoding: string;
  /** Whether one of either is there and says nothing. */
  readonly hasEmptyFraming: boolean;
};

type Writable = { -readonly [Name in keyof RequestHead]: RequestHead[Name] };

/**
 * Reads all headers in one pass: asking for each of them by name costs as much, and shows only the first line of those that came
 * in several. Lines of X-Forwarded-For are one chain, in order (RFC 9110 5.3): some proxies write a line of their own behind
 * the one that the visitor sent, and whoever reads only the first believes the visitor (P33). Of others the first one counts.
 */
export function readHead(request: HeaderLines): RequestHead {
  head = emptyHead();
  request.forEach(note);
  return head;
}

/** Of the request that is being read: {@link note} is made once and not for every request. */
let head: Writable = emptyHead();

// oxlint-disable-next-line complexity -- one case a header, without a look-up for each.
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
    default:
      noteRare(name, value);
  }
}

/** Headers that a click does not have. */
function noteRare(name: string, value: string): void {
  if (name === "content-length") {
    head.contentLengths += 1;
    head.hasEmptyFraming ||= value === "";
  } else if (name === "transfer-encoding") {
    head.transferEncodings += 1;
    head.transferEncoding ||= value;
    head.hasEmptyFraming ||= value === "";
  } else if (name === "idempotency-key") {
    // Two lines are no key: together they have a comma.
    head.idempotencyKey = head.idempotencyKey === "" ? value : `${head.idempotencyKey},${value}`;
  }
}

function emptyHead(): Writable {
  return {
    host: "",
    userAgent: "",
    referer: "",
    acceptLanguage: "",
    xForwardedFor: "",
    xForwardedProto: "",
    via: "",
    cookie: "",
    contentType: "",
    origin: "",
    ifNoneMatch: "",
    idempotencyKey: "",
    contentLengths: 0,
    transferEncodings: 0,
    transferEncoding: "",
    hasEmptyFraming: false,
  };
}

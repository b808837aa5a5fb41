/** A request as received: plain text, nothing interpreted. */
export type RawRequest = {
  /** Upper case. */
  readonly method: string;
  /** Path as sent, still percent-encoded. */
  readonly path: string;
  /** Query as sent, without the question mark; "" when there is none. */
  readonly query: string;
  /** Address of the peer of the connection: the client, or a proxy. */
  readonly peerIp: string;
  /** Header values, "" when absent. No route reads other headers. */
  readonly headers: {
    readonly host: string;
    readonly userAgent: string;
    readonly referer: string;
    readonly accept: string;
    readonly acceptLanguage: string;
    readonly xForwardedFor: string;
    readonly xForwardedProto: string;
    readonly via: string;
    readonly cookie: string;
    readonly contentType: string;
    readonly origin: string;
    readonly ifNoneMatch: string;
    readonly idempotencyKey: string;
    readonly xRequestId: string;
    /** Sec-Purpose, Purpose, X-Purpose and X-Moz, joined: why a browser asks ahead of a visit. */
    readonly purpose: string;
    readonly secFetchDest: string;
  };
  /** Names the request in logs, answers and everything it causes. */
  readonly requestId: string;
};

/** An answer before it is sent. Header names are sent as written here. */
export type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array;
  /** Sent instead of `body` to clients that ask for a page: visitors. */
  readonly page?: string;
};

/** What must be on disk before the answer leaves (P1). */
export type Recorded = {
  readonly lane: number;
  /** The JSON of a ClickRecord or an ImpressionRecord, without line breaks and without fields at their default. */
  readonly line: string;
};

export type RouteResult = {
  readonly answer: Answer;
  readonly recorded?: Recorded;
  /** Of the click that the request made. */
  readonly clickId?: string;
  /** Why, for the access log: one of our words. */
  readonly reason?: string;
};

/** Answers within this turn of the event loop. Every click path without a body is one. */
export type Route = (request: RawRequest) => RouteResult;

/** For paths that read a body or ask another process. `body` is at most the route's own maximum. */
export type AsyncRoute = (
  request: RawRequest,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<RouteResult>;

/** A path and the route that answers it. Patterns are written as for uWebSockets.js. */
export type SyncEntry = {
  readonly pattern: string;
  readonly methods: readonly string[];
  readonly route: Route;
};
export type AsyncEntry = {
  readonly pattern: string;
  readonly methods: readonly string[];
  readonly bodyBytesMax: number;
  readonly route: AsyncRoute;
  readonly tooLarge: Answer;
  /** The answer while too many requests wait, or a route that makes one and waits for no other process. */
  readonly busy: Answer | AsyncRoute;
};

import { AD_CLICK_ID_KINDS } from "../../schemas/events/click-query.ts";
import { COUPON_CLICK_MS } from "../../schemas/events/coupon-click.ts";
import type { PostbackReply, PostbackRequest } from "../../schemas/events/postback-request.ts";
import { newConversionId } from "../../schemas/ids/conversion-id.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { Tracing } from "../../schemas/tracing/tracing.ts";
import { type Header, jsonAnswer, NO_STORE } from "../answers.ts";
import { askConversions, isOutage } from "../ask-conversions.ts";
import { couponClickRecord } from "../coupon-clicks.ts";
import { type Refusal, type RefusalDeps, reportRefusal } from "../inbound-log/report-refusal.ts";
import { clientIp } from "../request/client-ip.ts";
import type { Lookup, LookupLimit } from "../request/lookup-limit.ts";
import { trackingHostOf } from "../request/visit.ts";
import type { Answer, AsyncRoute, RawRequest, RouteResult } from "../route.ts";
import { htmlPixelAnswer, htmlPostbacksOf } from "./html-pixel.ts";
import { PIXEL } from "./impression.ts";
import { type Multipart, type ReadParameters, readReportParameters } from "./report-body.ts";

export type PostbackDeps = RefusalDeps & {
  readonly link: NatsLink;
  readonly tracing?: Tracing | undefined;
  readonly multipart: Multipart;
  /** Number of this process's journal. */
  readonly producer: number;
  readonly pixels: PixelKeeper;
  readonly lookups: LookupLimit;
};

/** Keeps a pixel that could not be recorded now, to record it later. */
export type PixelKeeper = {
  /** Resolves when the pixel is on the disk, or was counted as given up. */
  keep(report: PostbackRequest): Promise<void>;
};

export type BodyRoute = {
  readonly patterns: readonly string[];
  readonly methods: readonly string[];
  readonly bodyBytesMax: number;
  readonly route: AsyncRoute;
  /** The answers to a body over the limit, while too many requests wait, and to a wrong method, in the format of this path. */
  readonly tooLarge: Answer;
  readonly busy: Answer | AsyncRoute;
  readonly wrongMethod: Answer;
};

const BODY_BYTES_MAX = 65_536;
const RETRY_AFTER_SECONDS = "30";
/** One more than the longest key, so that a longer key is refused. */
const KEY_LENGTH_READ = 65;
/** The name of the relay of unknown clicks in `Via` (G117). */
const RELAYED = "tracker-relay";
const UNAVAILABLE = "temporarily unavailable";

/** `/pb` and its aliases. An outage is a 503, never a business error (P15). */
export function postbackRoute(deps: PostbackDeps): BodyRoute {
  const route: AsyncRoute = async (request, body) => {
    const read = readReportParameters(
      { query: request.query, contentType: request.headers.contentType },
      body,
      deps.multipart,
    );
    if (read.kind === "malformed") {
      reportMalformed(deps, request, { endpoint: "pb", httpStatus: 400 }, read);
      return { answer: refusalAnswer(400, read.error), reason: "malformed" };
    }
    const report = reportOf(deps, request, "pb", read.params);
    const reply = await askConversions(deps, report);
    if (reply === undefined) {
      reportNoReply(deps, request, { endpoint: "pb", httpStatus: 503, params: read.params });
    }
    if (isOutage(reply)) return { answer: unavailable(reply), reason: "unavailable" };
    const answer = jsonAnswer(reply.httpStatus, reply.body);
    return { answer, reason: reply.result, ...recordedOf(deps, report, reply) };
  };
  return {
    patterns: ["/pb", "/postback", "/conversion"],
    methods: ["GET", "POST"],
    bodyBytesMax: BODY_BYTES_MAX,
    route,
    tooLarge: refusalAnswer(413, "request body too large"),
    busy: unavailable(),
    wrongMethod: wrongMethod("GET, POST"),
  };
}

/** `/px` and `/px.gif`: always 200 and an image; the outcome is in a header. */
export function pixelRoute(deps: PostbackDeps): BodyRoute {
  const routeWith =
    (ask: typeof askConversions): AsyncRoute =>
    async (request) => {
      // Link checkers and previews send it, and no browser does that has bought something (G222).
      if (request.method === "HEAD") return { answer: pixelAnswer("error: HEAD records nothing") };
      const { outcome, recorded } = await recordPixel(deps, request, ask);
      const answer = pixelAnswer(outcome, recorded?.[1].hint);
      return recorded === undefined ? { answer } : { answer, ...recordedOf(deps, ...recorded) };
    };
  return {
    patterns: ["/px", "/px.gif"],
    methods: ["GET", "HEAD"],
    bodyBytesMax: 0,
    route: routeWith(askConversions),
    tooLarge: pixelAnswer("error: request body too large"),
    busy: routeWith(noReply),
    wrongMethod: wrongMethod("GET, HEAD"),
  };
}

/**
 * `/px.html`: the pixel as a page for an iframe, which carries the HTML postbacks of the conversion that it made. GET only: a HEAD
 * would use them up although it shows nothing.
 */
export function htmlPixelRoute(deps: PostbackDeps): BodyRoute {
  const routeWith =
    (ask: typeof askConversions): AsyncRoute =>
    async (request) => {
      const { outcome, recorded } = await recordPixel(deps, request, ask);
      if (recorded === undefined) return { answer: htmlPixelAnswer(outcome, []) };
      const hint = hintHeader(recorded[1].hint);
      const cause = { request_id: request.requestId };
      const documents = await htmlPostbacksOf(deps.link, recorded[1], cause);
      const answer = htmlPixelAnswer(outcome, documents);
      return {
        answer: { ...answer, headers: [...answer.headers, ...hint] },
        ...recordedOf(deps, ...recorded),
      };
    };
  return {
    patterns: ["/px.html"],
    methods: ["GET"],
    bodyBytesMax: 0,
    route: routeWith(askConversions),
    tooLarge: htmlPixelAnswer("error: request body too large", []),
    busy: routeWith(noReply),
    wrongMethod: wrongMethod("GET"),
  };
}

/** Used while too many requests wait. Nobody would repeat the pixel, so it is kept as in an outage. */
const noReply = (): Promise<undefined> => Promise.resolve(undefined);

/**
 * Returns the outcome of a pixel for its header, and the report with its reply if there is one. A pixel that cannot be recorded
 * now is on the disk before the answer leaves, and is recorded later with the time of this request (P15).
 */
async function recordPixel(
  deps: PostbackDeps,
  request: RawRequest,
  ask: typeof askConversions,
): Promise<{ readonly outcome: string; readonly recorded?: [PostbackRequest, PostbackReply] }> {
  const read = readReportParameters(
    { query: request.query, contentType: "" },
    NOTHING,
    deps.multipart,
  );
  if (read.kind === "malformed") {
    reportMalformed(deps, request, { endpoint: "px", httpStatus: 200 }, read);
    return { outcome: `error: ${read.error}` };
  }
  const report = {
    ...reportOf(deps, request, "px", read.params),
    conversionId: newConversionId(deps.clock.nowMs()),
  };
  const lookup = byAdClickId(read.params) ? deps.lookups.take(request) : undefined;
  if (typeof lookup === "number") {
    const answered = { endpoint: "px", httpStatus: 200, params: read.params } as const;
    reportRefusal(deps, request, { ...answered, result: "error", message: LIMITED });
    return { outcome: `error: ${LIMITED}` };
  }
  const reply = await ask(deps, report);
  settle(lookup, reply);
  if (reply === undefined) {
    reportNoReply(deps, request, { endpoint: "px", httpStatus: 200, params: read.params });
  }
  if (isOutage(reply)) {
    await deps.pixels.keep(report);
    return { outcome: `error: ${UNAVAILABLE}` };
  }
  return { outcome: outcomeOf(reply), recorded: [report, reply] };
}

const NOTHING = new Uint8Array(0);
const LIMITED = "rate_limited";
/** Results of a look-up that found no click, or was given up because too many are under way. */
const NOT_FOUND: ReadonlySet<PostbackReply["result"]> = new Set([
  "unknown_click",
  "forwarded",
  "unavailable",
]);

function byAdClickId(params: PostbackRequest["params"]): boolean {
  return AD_CLICK_ID_KINDS.some((kind) => (params[kind] ?? "") !== "");
}

/** No answer is an outage of ours, so it does not count against the caller. */
function settle(lookup: Lookup | undefined, reply: PostbackReply | undefined): void {
  if (reply === undefined || !NOT_FOUND.has(reply.result)) lookup?.found();
}

type Answered = Pick<Refusal, "endpoint" | "httpStatus">;

function reportMalformed(
  deps: PostbackDeps,
  request: RawRequest,
  answered: Answered,
  { error, params }: Extract<ReadParameters, { kind: "malformed" }>,
): void {
  reportRefusal(deps, request, { ...answered, result: "malformed", message: error, params });
}

/** Reports a missing answer. An outage that a conversion processor reports is in the log already. */
function reportNoReply(
  deps: PostbackDeps,
  request: RawRequest,
  answered: Answered & { readonly params: ReadParameters["params"] },
): void {
  reportRefusal(deps, request, { ...answered, result: "unavailable", message: UNAVAILABLE });
}

/**
 * Returns the record of a coupon's click, which must be recorded before the answer leaves (G115). When this process does not record it in
 * time, the conversion processors ask another ingress (TRK-037).
 */
function recordedOf(
  { clock }: PostbackDeps,
  { recordsUntilMs = 0 }: PostbackRequest,
  { couponClick }: PostbackReply,
): Pick<RouteResult, "recorded"> {
  const recorded =
    couponClick === undefined ? undefined : couponClickRecord(couponClick, recordsUntilMs, clock);
  return recorded === undefined ? {} : { recorded };
}

function reportOf(
  { clock, trustedProxies, producer }: PostbackDeps,
  request: RawRequest,
  endpoint: PostbackRequest["endpoint"],
  params: PostbackRequest["params"],
): PostbackRequest {
  const { idempotencyKey } = request.headers;
  const receivedAtMs = clock.nowMs();
  return {
    endpoint,
    params,
    cookieClickId:
      /(?:^|;\s*)trk_cid=([0-9A-Fa-f]{32})(?:;|$)/.exec(request.headers.cookie)?.[1] ?? "",
    host: trackingHostOf(request.headers.host),
    ip: clientIp(request, trustedProxies),
    userAgent: request.headers.userAgent,
    receivedAtMs,
    requestId: request.requestId,
    producer,
    recordsUntilMs: receivedAtMs + COUPON_CLICK_MS,
    ...(endpoint === "pb" && idempotencyKey !== ""
      ? { idempotencyKey: idempotencyKey.slice(0, KEY_LENGTH_READ) }
      : {}),
    ...(request.headers.via.includes(RELAYED) ? { isRelayed: true } : {}),
  };
}

/** A status, `<status>; <reason>`, or `error: <message>`. A free-text reason must not break the header. */
function outcomeOf({ body }: PostbackReply): string {
  const fields = body as Readonly<Record<string, unknown>>;
  const text = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  if (!body.ok) return `error: ${text("error")}`;
  const reason = text("reason").replaceAll(/[^\x20-\x7e]/g, "?");
  return reason === "" ? text("status") : `${text("status")}; ${reason}`;
}

function pixelAnswer(outcome: string, hint?: string): Answer {
  return {
    status: 200,
    headers: [
      ["Content-Type", "image/gif"],
      NO_STORE,
      ["X-Tracker-Conversion", outcome],
      ...hintHeader(hint),
    ],
    body: PIXEL,
  };
}

/** What to do about a refusal whose text in `X-Tracker-Conversion` the contract fixes. */
function hintHeader(hint: string | undefined): Header[] {
  return hint === undefined ? [] : [["X-Tracker-Hint", hint]];
}

function refusalAnswer(status: number, error: string, ...headers: Header[]): Answer {
  return jsonAnswer(status, { ok: false, error }, ...headers);
}

/** `reply` may say why, and when to send the report again. */
function unavailable(reply?: PostbackReply): Answer {
  const retryAfter = String(reply?.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
  const body = reply?.body ?? { ok: false, error: UNAVAILABLE };
  return jsonAnswer(503, body, ["Retry-After", retryAfter]);
}

function wrongMethod(allow: string): Answer {
  return refusalAnswer(405, "method not allowed", ["Allow", allow]);
}

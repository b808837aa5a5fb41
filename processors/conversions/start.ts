import type { CatalogFeed } from "../../schemas/catalog-feed/follow.ts";
import type { Cause } from "../../schemas/events/cause.ts";
import { ClickLookup, type ClickLookupReply } from "../../schemas/events/click-lookup.ts";
import {
  ConversionCommand,
  type ConversionCommandReply,
} from "../../schemas/events/conversion-command.ts";
import {
  type InboundCall,
  InboundCalls,
  type InboundReply,
} from "../../schemas/events/inbound-call.ts";
import { type PostbackReply, PostbackRequest } from "../../schemas/events/postback-request.ts";
import type { Log } from "../../schemas/host/log.ts";
import { causeOf } from "../../schemas/nats/cause-headers.ts";
import type { OpenSpan, SpanFacts } from "../../schemas/tracing/tracing.ts";
import type { RoleDeps } from "../role-deps.ts";
import { byCurrentCatalog } from "./answer/by-current-catalog.ts";
import { PostbackLog } from "./answer/postback-log.ts";
import { type Outgoing, UnknownClickRelay } from "./answer/unknown-click-relay.ts";
import { lookUpClick } from "./attribute/look-up-click.ts";
import { StoredAdClicks } from "./attribute/stored-ad-clicks.ts";
import { StoredClicks } from "./attribute/stored-clicks.ts";
import { WorkPool } from "./attribute/work-pool.ts";
import { handleCommand } from "./handle-command.ts";
import { handleReport } from "./handle-report.ts";
import { type ConversionMetrics, conversionMetrics } from "./metrics.ts";
import { startCouponClicks } from "./record/coupon-clicks.ts";
import { RecordQueue } from "./record/record-queue.ts";
import { isStoreAway } from "./record/store-away.ts";
import { keepFirstAnswer } from "./report/first-answer.ts";
import { type Handled, refusal } from "./report/postback-answer.ts";
import { FAULT, UNAVAILABLE } from "./report/refusal.ts";
import type { ReportSources } from "./report-sources.ts";

type ConversionDeps = RoleDeps & { readonly outgoing: Outgoing };

/** Any number of processes share the work. */
const QUEUE_GROUP = "conversions";
/**
 * Reports with a token, commands and batches of log rows under way in one process. Above this the caller gets an outage and tries
 * again.
 */
const UNDER_WAY_MAX = 1_000;
/** Pixels and look-ups of landing pages, which anybody may send. They take no capacity from the others. */
const STRANGERS_UNDER_WAY_MAX = 250;
/** Writers asked at once for strangers' searches by an ad ID (4 for each workspace of a host), and searches that wait. */
const STRANGERS_QUESTIONS_MAX = 64;
const STRANGERS_WAITING_MAX = 64;

/** Statements under way in ClickHouse that look up postbacks by an ad ID, each for up to a hundred postbacks. Strangers have one. */
const AD_STATEMENTS_MAX = 4;
/** Pause between two such statements for strangers, so that a flood of strangers does not keep ClickHouse busy. */
const STRANGERS_PAUSE_MS = 50;

const UNAVAILABLE_REPLY = { kind: "unavailable" } as const;

/** Answers conversion reports, and the commands and look-ups of other processes, until it is closed. */
export function startConversions(deps: ConversionDeps): { close(): Promise<void> } {
  const { log, nats } = deps;
  const { known, strangers, strangersSearches } = openPools();
  const postbackLog = new PostbackLog(deps);
  const metrics = conversionMetrics(deps.metrics, {
    underWay: { known: () => known.underWay, strangers: () => strangers.underWay },
    logRowsLost: () => postbackLog.lost,
    logRowsMerged: () => postbackLog.merged,
  });
  const recorder = new RecordQueue(deps.pool);
  const relay = new UnknownClickRelay(deps);
  const lookups = openLookups(deps);
  const answering = { recorder, relay, strangersSearches, postbackLog, metrics };
  const handlerDeps: HandlerDeps = { ...deps, ...lookups, ...answering };
  const serve = <T>(subject: string, { decode, pool, answer, busy }: Task<T>) =>
    nats.connection.subscribe(subject, {
      queue: QUEUE_GROUP,
      callback: (error, message) => {
        if (error !== null) {
          log.error({ err: error, subject }, "conversions.subscription-failed");
          return;
        }
        const input = decode(message.data);
        // Undefined for a message that no process of ours sent.
        if (input === undefined) return;
        const cause = causeOf(message);
        const work = pool(input).run(async () => {
          respond(handlerDeps, message, await answer(input, forRequest(handlerDeps, cause)));
        });
        if (work === undefined)
          respond(handlerDeps, message, busy(input, forRequest(handlerDeps, cause)));
      },
    });
  const couponClicks = startCouponClicks({ ...deps, storedClicks: lookups.storedClicks });
  const subscriptions = [
    serve(nats.subjects.postback, {
      decode: (bytes) => decodeAs(handlerDeps, PostbackRequest, bytes),
      pool: ({ endpoint }) => (endpoint === "px" ? strangers : known),
      answer: (rawReport, forOne) => answerReport(forOne, rawReport),
      busy: (rawReport, forOne) => outageReply(forOne, rawReport),
    }),
    serve(nats.subjects.conversionCommand, {
      decode: (bytes) => decodeAs(handlerDeps, ConversionCommand, bytes),
      pool: () => known,
      answer: (command, forOne) => answerCommand(forOne, command),
      busy: () => UNAVAILABLE_REPLY,
    }),
    serve(nats.subjects.clickLookup, {
      decode: (bytes) => decodeAs(handlerDeps, ClickLookup, bytes),
      pool: () => strangers,
      answer: (lookup, forOne) => answerLookup(forOne, lookup),
      busy: () => UNAVAILABLE_REPLY,
    }),
    serve(nats.subjects.inboundCalls, {
      decode: (bytes) => ({ calls: decodeAs(handlerDeps, InboundCalls, bytes) }),
      pool: () => known,
      answer: ({ calls }) => keepCalls(handlerDeps, calls),
      busy: () => UNAVAILABLE_REPLY,
    }),
  ];
  return {
    close: async () => {
      // Draining answers the messages that the server has already delivered. A lost connection has nothing to drain.
      await Promise.allSettled(subscriptions.map((subscription) => subscription.drain()));
      await Promise.all([known.drained(), strangers.drained()]);
      await couponClicks.close();
      await postbackLog.close();
    },
  };
}

/** How clicks are read from ClickHouse. */
function openLookups({
  clickhouse,
  catalog,
}: ConversionDeps): Pick<HandlerDeps, "storedClicks" | "storedAdClicks" | "strangersAdClicks"> {
  return {
    storedClicks: new StoredClicks(clickhouse, catalog),
    storedAdClicks: new StoredAdClicks(clickhouse, { flushesMax: AD_STATEMENTS_MAX }),
    strangersAdClicks: new StoredAdClicks(clickhouse, {
      flushesMax: 1,
      restMs: STRANGERS_PAUSE_MS,
    }),
  };
}

function openPools(): Record<"known" | "strangers" | "strangersSearches", WorkPool> {
  return {
    known: new WorkPool({ costMax: UNDER_WAY_MAX }),
    strangers: new WorkPool({ costMax: STRANGERS_UNDER_WAY_MAX }),
    strangersSearches: new WorkPool({
      costMax: STRANGERS_QUESTIONS_MAX,
      waitingMax: STRANGERS_WAITING_MAX,
    }),
  };
}

/** Sends the reply. If the connection is lost, the sender's request times out and it tries again. */
function respond(
  deps: HandlerDeps,
  message: { respond(payload: string): boolean },
  reply: unknown,
): void {
  try {
    message.respond(JSON.stringify(reply));
  } catch (error) {
    deps.log.warn({ err: error }, "conversions.answer-not-sent");
  }
}

/** How one subject is served. `forOne` is what the handler of this request may use. `busy` returns the reply to a message when the pool is full. */
type Task<T> = {
  readonly decode: (payload: Uint8Array) => T | undefined;
  readonly pool: (input: T) => WorkPool;
  readonly answer: (input: T, forOne: HandlerDeps) => Promise<unknown>;
  readonly busy: (input: T, forOne: HandlerDeps) => unknown;
};

type HandlerDeps = ReportSources & {
  readonly catalogFeed: CatalogFeed;
  readonly log: Log;
  readonly metrics: ConversionMetrics;
  readonly postbackLog: PostbackLog;
};

/** What the handler of one request may use: its lines in the log name the request. */
function forRequest(deps: HandlerDeps, cause: Cause | undefined): HandlerDeps {
  if (cause === undefined) return deps;
  return { ...deps, cause, log: deps.log.child({ request_id: cause.request_id }) };
}

/** `deps` of the handler, whose statements follow its span, and the span itself. Undefined without tracing or a known cause. */
function spanOf(
  { tracing, cause }: HandlerDeps,
  name: "conversions.report" | "conversions.command",
  facts: SpanFacts = {},
): { readonly span: OpenSpan; readonly cause: Cause } | undefined {
  if (tracing === undefined || cause === undefined) return undefined;
  const { request_id, traceparent: parent } = cause;
  const span = tracing.start(name, { parent, facts: { ...facts, request_id } });
  return { span, cause: { request_id, traceparent: span.traceparent } };
}

async function answerReport(given: HandlerDeps, report: PostbackRequest): Promise<unknown> {
  const traced = spanOf(given, "conversions.report", { endpoint: report.endpoint });
  const deps = traced === undefined ? given : { ...given, cause: traced.cause };
  const reply = await replyToReport(deps, report);
  traced?.span.end({ result: reply.result }, { isFailed: reply.httpStatus === 503 });
  return reply;
}

/** Never throws. */
async function replyToReport(deps: HandlerDeps, given: PostbackRequest): Promise<PostbackReply> {
  const startedAtMs = performance.now();
  const rawReport = named(given, deps);
  const handled = await reportOutcome(deps, rawReport);
  const { endpoint } = rawReport;
  deps.metrics.reports.add(1, { endpoint, result: handled.reply.result });
  deps.metrics.reportSeconds.observe((performance.now() - startedAtMs) / 1_000, { endpoint });
  // Log only the first attempt of a report during an outage: one row for each would fill the log.
  const isStillOut = rawReport.isRepeat === true && handled.reply.httpStatus === 503;
  if (!isStillOut) deps.postbackLog.add(rawReport, handled);
  const { result, httpStatus } = handled.reply;
  const conversion = handled.conversionId;
  deps.log.debug({ endpoint, result, status: httpStatus, conversion }, "conversions.reported");
  return handled.reply;
}

function named(report: PostbackRequest, { cause }: Pick<HandlerDeps, "cause">): PostbackRequest {
  return cause === undefined ? report : { ...report, requestId: cause.request_id };
}

/** The reply when the pool is full. */
function outageReply(deps: HandlerDeps, given: PostbackRequest): unknown {
  const rawReport = named(given, deps);
  const handled = refusal(UNAVAILABLE, {});
  if (rawReport.isRepeat !== true) deps.postbackLog.add(rawReport, handled);
  return handled.reply;
}

/** A batch of calls that can never be stored is refused, so that ingress does not send it again. */
async function keepCalls(
  deps: HandlerDeps,
  calls: readonly InboundCall[] | undefined,
): Promise<InboundReply> {
  if (calls === undefined) return { kind: "refused" };
  if (!deps.catalog.isLoaded) return UNAVAILABLE_REPLY;
  try {
    await deps.postbackLog.keep(calls);
    return { kind: "kept" };
  } catch (error) {
    if (isStoreAway(error)) return UNAVAILABLE_REPLY;
    deps.log.error({ err: error, calls: calls.length }, "postback-log.not-kept");
    return { kind: "refused" };
  }
}

/** Never throws. A store that is unavailable, or a bug of ours, becomes an outage and never a business error (P15). */
async function reportOutcome(deps: HandlerDeps, rawReport: PostbackRequest): Promise<Handled> {
  // An empty catalog knows no token. That is our state and not the sender's mistake.
  if (!deps.catalog.isLoaded) return refusal(UNAVAILABLE, {});
  try {
    const current = await byCurrentCatalog(deps, {
      handle: () => handleReport(deps, rawReport),
      isRefusal: ({ isUnreadable, reply: { body, result } }) =>
        !body.ok && isUnreadable !== true && result !== "unavailable",
    });
    if (current?.keyToStore === undefined || current.reply.httpStatus === 503)
      return current ?? refusal(UNAVAILABLE, {});
    // Stored only now, because the first catalog may have refused a report that the current one accepts.
    return await keepFirstAnswer(deps.pool, current.keyToStore, current);
  } catch (error) {
    if (isStoreAway(error)) {
      deps.log.warn({ err: error }, "conversions.store-is-away");
      return refusal(UNAVAILABLE, {});
    }
    deps.log.error({ err: error }, "conversions.report-failed");
    return refusal(FAULT, {});
  }
}

async function answerCommand(
  given: HandlerDeps,
  command: ConversionCommand,
): Promise<ConversionCommandReply> {
  const traced = spanOf(given, "conversions.command");
  const deps = traced === undefined ? given : { ...given, cause: traced.cause };
  const reply = await unlessOutage(deps, "conversions.command-failed", () =>
    byCurrentCatalog(deps, {
      handle: () => handleCommand(deps, command),
      isRefusal: ({ kind }) => kind === "refused",
    }),
  );
  deps.metrics.commands.add(1, { kind: reply.kind });
  traced?.span.end({ result: reply.kind }, { isFailed: reply.kind === "unavailable" });
  return reply;
}

async function answerLookup(deps: HandlerDeps, lookup: ClickLookup): Promise<ClickLookupReply> {
  // The secret that verifies click ids comes with the catalog.
  const reply = await unlessOutage(deps, "conversions.lookup-failed", () =>
    lookUpClick(deps, lookup),
  );
  deps.metrics.lookups.add(1, { kind: reply.kind });
  return reply;
}

/** Never throws: a catalog that is not loaded, a store that is away and a bug of ours are answered as `unavailable`. */
async function unlessOutage<Reply>(
  { catalog, log }: HandlerDeps,
  failed: string,
  answer: () => Promise<Reply | undefined>,
): Promise<Reply | typeof UNAVAILABLE_REPLY> {
  try {
    const reply = catalog.isLoaded ? await answer() : undefined;
    return reply ?? UNAVAILABLE_REPLY;
  } catch (error) {
    if (isStoreAway(error)) log.warn({ err: error }, "conversions.store-is-away");
    else log.error({ err: error }, failed);
    return UNAVAILABLE_REPLY;
  }
}

function decodeAs<T>(
  deps: HandlerDeps,
  schema: { parse(value: unknown): T },
  bytes: Uint8Array,
): T | undefined {
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    deps.log.error({ err: error }, "conversions.undecodable-message");
    return undefined;
  }
}

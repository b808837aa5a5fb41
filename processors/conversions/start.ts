import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { CatalogFeed } from "../../schemas/catalog-feed/follow.ts";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
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
import { PostbackRequest } from "../../schemas/events/postback-request.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { byCurrentCatalog } from "./answer/by-current-catalog.ts";
import { keepFirstAnswer } from "./answer/first-answer.ts";
import { type Handled, refusal } from "./answer/postback-answer.ts";
import { PostbackLog } from "./answer/postback-log.ts";
import { FAULT, UNAVAILABLE } from "./answer/refusal.ts";
import { type Outgoing, UnknownClickRelay } from "./answer/unknown-click-relay.ts";
import { lookUpClick } from "./attribute/look-up-click.ts";
import { StoredAdClicks } from "./attribute/stored-ad-clicks.ts";
import { StoredClicks } from "./attribute/stored-clicks.ts";
import { WorkPool } from "./attribute/work-pool.ts";
import { handleCommand } from "./handle-command.ts";
import { handleReport } from "./handle-report.ts";
import { type ConversionMetrics, conversionMetrics } from "./metrics.ts";
import type { ReportSources } from "./read/incoming-report.ts";
import { startCouponClicks } from "./record/coupon-clicks.ts";
import { RecordQueue } from "./record/record-queue.ts";
import { isStoreAway } from "./record/store-away.ts";

export type ConversionDeps = {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly catalogFeed: CatalogFeed;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
};

/** Any number of processes share the work. */
const QUEUE_GROUP = "conversions";
/** Reports with a token, commands and log rows under way in one process; one more is told to come again. */
const UNDER_WAY_MAX = 1_000;
/** Pixels and look-ups of landing pages, which anybody may send. They take none of the places of the others. */
const STRANGERS_UNDER_WAY_MAX = 250;
/** Their searches by an ad-platform ID: questions to writers at once, 4 for each workspace of a host, and searches that wait. */
const STRANGERS_QUESTIONS_MAX = 64;
const STRANGERS_WAITING_MAX = 64;

/** Look-ups of postbacks in ClickHouse by an ad-platform ID, each for up to a hundred of them; strangers have one. */
const AD_STATEMENTS_MAX = 4;
/** Between two of these statements: a flood of strangers is not to keep ClickHouse busy. */
const STRANGERS_PAUSE_MS = 50;

/** Answers conversion reports and the commands of the api until it is closed. */
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
  const looked = openLookups(deps);
  const own = { recorder, relay, strangersSearches, postbackLog, metrics };
  const desk: Desk = { ...deps, ...looked, ...own };
  const take = <T>(subject: string, { decode, pool, answer, busy }: Task<T>) =>
    nats.connection.subscribe(subject, {
      queue: QUEUE_GROUP,
      callback: (error, message) => {
        if (error !== null) {
          log.error({ err: error, subject }, "conversions.subscription-failed");
          return;
        }
        const asked = decode(message.data);
        // Undefined for bytes that nobody of ours sent.
        if (asked === undefined) return;
        const work = pool(asked).run(async () => {
          respond(desk, message, await answer(asked));
        });
        if (work === undefined) respond(desk, message, busy(asked));
      },
    });
  const couponClicks = startCouponClicks({ ...deps, storedClicks: looked.storedClicks });
  const subscriptions = [
    take(nats.subjects.postback, {
      decode: (bytes) => decodeAs(desk, PostbackRequest, bytes),
      pool: ({ endpoint }) => (endpoint === "px" ? strangers : known),
      answer: (request) => answerReport(desk, request),
      busy: (request) => putOff(desk, request),
    }),
    take(nats.subjects.conversionCommand, {
      decode: (bytes) => decodeAs(desk, ConversionCommand, bytes),
      pool: () => known,
      answer: (command) => answerCommand(desk, command),
      busy: unavailable,
    }),
    take(nats.subjects.clickLookup, {
      decode: (bytes) => decodeAs(desk, ClickLookup, bytes),
      pool: () => strangers,
      answer: (lookup) => answerLookup(desk, lookup),
      busy: unavailable,
    }),
    take(nats.subjects.inboundCalls, {
      decode: (bytes) => ({ calls: decodeAs(desk, InboundCalls, bytes) }),
      pool: () => known,
      answer: ({ calls }) => keepCalls(desk, calls),
      busy: unavailable,
    }),
  ];
  return {
    close: async () => {
      // Drained: what the server has handed over is still answered. A lost connection has nothing left to drain.
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
}: ConversionDeps): Pick<Desk, "storedClicks" | "storedAdClicks" | "strangersAdClicks"> {
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

/** Answers if the connection is still there; without it the sender has given up and repeats. */
function respond(desk: Desk, message: { respond(payload: string): boolean }, reply: unknown): void {
  try {
    message.respond(JSON.stringify(reply));
  } catch (error) {
    desk.log.warn({ err: error }, "conversions.answer-not-sent");
  }
}

/** How one subject is served. `busy` answers what finds no place in its pool. */
type Task<T> = {
  readonly decode: (payload: Uint8Array) => T | undefined;
  readonly pool: (asked: T) => WorkPool;
  readonly answer: (asked: T) => Promise<unknown>;
  readonly busy: (asked: T) => unknown;
};

type Desk = ReportSources & {
  readonly catalogFeed: CatalogFeed;
  readonly log: Log;
  readonly metrics: ConversionMetrics;
  readonly postbackLog: PostbackLog;
};

async function answerReport(desk: Desk, request: PostbackRequest): Promise<unknown> {
  const startedAtMs = performance.now();
  const handled = await reportOutcome(desk, request);
  const { endpoint } = request;
  desk.metrics.answered(endpoint, handled.reply.result, (performance.now() - startedAtMs) / 1_000);
  // The first of them stands there already: one line an attempt would fill the log of an outage.
  const isStillOut = request.isRepeat === true && handled.reply.httpStatus === 503;
  if (!isStillOut) desk.postbackLog.add(request, handled);
  return handled.reply;
}

/** More are under way than one process takes. */
function putOff(desk: Desk, request: PostbackRequest): unknown {
  const handled = refusal(UNAVAILABLE, {});
  if (request.isRepeat !== true) desk.postbackLog.add(request, handled);
  return handled.reply;
}

function unavailable(): InboundReply {
  return { kind: "unavailable" };
}

/** Those that nobody can store are not told again and again. */
async function keepCalls(
  desk: Desk,
  calls: readonly InboundCall[] | undefined,
): Promise<InboundReply> {
  if (calls === undefined) return { kind: "refused" };
  if (!desk.catalog.isLoaded) return unavailable();
  try {
    await desk.postbackLog.keep(calls);
    return { kind: "kept" };
  } catch (error) {
    if (isStoreAway(error)) return unavailable();
    desk.log.error({ err: error, calls: calls.length }, "postback-log.not-kept");
    return { kind: "refused" };
  }
}

/** Never throws: what the store or we cannot do now becomes an outage, never a business error (P15). */
async function reportOutcome(desk: Desk, request: PostbackRequest): Promise<Handled> {
  // An empty catalog knows no token: that is our state, not the sender's mistake.
  if (!desk.catalog.isLoaded) return refusal(UNAVAILABLE, {});
  try {
    const current = await byCurrentCatalog(desk, {
      handle: () => handleReport(desk, request),
      isRefusal: ({ reply: { body, result } }) =>
        !body.ok && result !== "malformed" && result !== "unavailable",
    });
    if (current?.unkept === undefined || current.reply.httpStatus === 503)
      return current ?? refusal(UNAVAILABLE, {});
    // Kept only now: the first catalog that was asked may have refused what the current one takes.
    return await keepFirstAnswer(desk.pool, current.unkept, current);
  } catch (error) {
    if (isStoreAway(error)) {
      desk.log.warn({ err: error }, "conversions.store-is-away");
      return refusal(UNAVAILABLE, {});
    }
    desk.log.error({ err: error }, "conversions.report-failed");
    return refusal(FAULT, {});
  }
}

async function answerCommand(
  desk: Desk,
  command: ConversionCommand,
): Promise<ConversionCommandReply> {
  let reply: ConversionCommandReply = { kind: "unavailable" };
  try {
    if (desk.catalog.isLoaded) {
      const current = await byCurrentCatalog(desk, {
        handle: () => handleCommand(desk, command),
        isRefusal: ({ kind }) => kind === "refused",
      });
      if (current !== undefined) reply = current;
    }
  } catch (error) {
    if (isStoreAway(error)) desk.log.warn({ err: error }, "conversions.store-is-away");
    else desk.log.error({ err: error }, "conversions.command-failed");
  }
  desk.metrics.commanded(reply.kind);
  return reply;
}

async function answerLookup(desk: Desk, lookup: ClickLookup): Promise<ClickLookupReply> {
  let reply: ClickLookupReply = { kind: "unavailable" };
  try {
    // Without its secret no click id can be told from a made-up one.
    if (desk.catalog.isLoaded) reply = await lookUpClick(desk, lookup);
  } catch (error) {
    if (isStoreAway(error)) desk.log.warn({ err: error }, "conversions.store-is-away");
    else desk.log.error({ err: error }, "conversions.lookup-failed");
  }
  desk.metrics.lookedUp(reply.kind);
  return reply;
}

function decodeAs<T>(
  desk: Desk,
  schema: { parse(value: unknown): T },
  bytes: Uint8Array,
): T | undefined {
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    desk.log.error({ err: error }, "conversions.undecodable-message");
    return undefined;
  }
}

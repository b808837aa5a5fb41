import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { buildInfo } from "../host/build-info.ts";
import type { ProcessIdentity } from "../host/ops-server.ts";
import { within } from "../host/within.ts";
import { readTraceparent, writeTraceparent } from "./traceparent.ts";
import type { OpenSpan, SpanFacts, SpanName, Tracing } from "./tracing.ts";

export type OtlpEvents = {
  dropped(spans: number, reason: "queue full" | "collector away"): void;
  sent(): void;
};

export type OtlpOptions = {
  /** Base URL of the collector, to which `/v1/traces` is added. */
  readonly endpoint: string;
  /** `name=value` pairs, comma-separated. */
  readonly headers: string | undefined;
  readonly identity: ProcessIdentity;
  readonly events: OtlpEvents;
};

/** Spans that wait or are being sent, about 1 kB each. */
const WAITING_MAX = 2_048;
const SPANS_PER_REQUEST = 512;
const SEND_EVERY_MS = 1_000;
/** One request to the collector, with its repeats. A process that ends waits this long for its last spans. */
const SEND_MS = 3_000;
const TEXT_LENGTH_MAX = 128;

const KINDS: Readonly<Record<SpanName, SpanKind>> = {
  "ingress.redirect": SpanKind.SERVER,
  "ingress.postback": SpanKind.SERVER,
  "conversions.report": SpanKind.CONSUMER,
  "conversions.command": SpanKind.CONSUMER,
  "postgres.record": SpanKind.CLIENT,
  "delivery.attempt": SpanKind.CLIENT,
  "api.request": SpanKind.SERVER,
  "clickhouse.report": SpanKind.CLIENT,
};

/** Names of OpenTelemetry where it has a name for the same thing. */
const ATTRIBUTES: Readonly<Record<keyof SpanFacts, string>> = {
  request_id: "tracker.request_id",
  route: "http.route",
  method: "http.request.method",
  status: "http.response.status_code",
  endpoint: "tracker.endpoint",
  result: "tracker.result",
  operation: "tracker.operation",
  statement: "db.query.summary",
  delivery_kind: "tracker.delivery_kind",
  attempt: "tracker.attempt",
};

/** Sends spans to a collector by OTLP over HTTP. While it is away spans are dropped and counted, and nobody waits. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #queue: BoundedQueue;
  readonly #tracer: Tracer;

  constructor({ endpoint, headers, identity, events }: OtlpOptions) {
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
      headers: readHeaders(headers),
      timeoutMillis: SEND_MS,
    });
    this.#queue = new BoundedQueue(exporter, events);
    this.#provider = new TracerProvider({
      // Named, because the library would take them from variables of the environment.
      sampler: new AlwaysOnSampler(),
      spanLimits: { attributeValueLengthLimit: TEXT_LENGTH_MAX },
      resource: resourceFromAttributes({
        "service.namespace": "tracker",
        "service.name": `tracker-${identity.role}`,
        "service.instance.id": identity.id,
        "service.version": buildInfo().version,
        "host.name": identity.host,
      }),
      spanProcessors: [this.#queue],
    });
    this.#tracer = this.#provider.getTracer("tracker");
  }

  /** Spans that wait or are being sent. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  start(name: SpanName, { parent, atMs, facts }: Parameters<Tracing["start"]>[1]): OpenSpan {
    const cause = readTraceparent(parent ?? "");
    const context =
      cause === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId: cause.traceId,
            spanId: cause.spanId,
            traceFlags: cause.flags,
            isRemote: true,
          });
    const attributes = attributesOf(facts);
    const startTime = atMs === undefined ? {} : { startTime: atMs };
    return openSpan(
      this.#tracer.startSpan(name, { kind: KINDS[name], attributes, ...startTime }, context),
    );
  }

  /** Sends what waits, for at most three seconds. */
  async close(): Promise<void> {
    // A collector that is away is not a fault of this process: its spans are counted as dropped.
    await within(SEND_MS, Promise.allSettled([this.#provider.shutdown()]));
  }
}

function openSpan(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags: flags } = span.spanContext();
  return {
    traceparent: writeTraceparent({ traceId, spanId, flags }),
    end: (facts = {}, { isFailed = false, atMs } = {}) => {
      span.setAttributes(attributesOf(facts));
      if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(atMs);
    },
  };
}

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [fact, name] of Object.entries(ATTRIBUTES)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ATTRIBUTES has the fields of SpanFacts and no other
    const value = facts[fact as keyof SpanFacts];
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}

function readHeaders(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    return at < 1
      ? []
      : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

/** The queue of the library, which does not say what it drops. Here a span that finds no room, or that is not sent, is counted. */
class BoundedQueue implements SpanProcessor {
  readonly #events: OtlpEvents;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;

  constructor(exporter: SpanExporter, events: OtlpEvents) {
    this.#events = events;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            this.#left(spans.length, result.code === ExportResultCode.SUCCESS);
            done(result);
          }),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: WAITING_MAX,
      maxExportBatchSize: SPANS_PER_REQUEST,
      scheduledDelayMillis: SEND_EVERY_MS,
      exportTimeoutMillis: 2 * SEND_MS,
    });
  }

  get waiting(): number {
    return this.#waiting;
  }

  onStart(): void {
    // Only ended spans are queued.
  }

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= WAITING_MAX) {
      this.#events.dropped(1, "queue full");
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  async forceFlush(): Promise<void> {
    await this.#batches.forceFlush();
  }

  async shutdown(): Promise<void> {
    await this.#batches.shutdown();
  }

  #left(spans: number, isSent: boolean): void {
    this.#waiting -= spans;
    if (isSent) this.#events.sent();
    else this.#events.dropped(spans, "collector away");
  }
}

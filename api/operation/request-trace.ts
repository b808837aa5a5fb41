import type { FastifyInstance } from "fastify";
import type { OpenSpan, Tracing } from "../../schemas/tracing/tracing.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined without tracing. */
    trace: RequestTrace | undefined;
  }
}

/** Supervisors ask every second. */
const HEALTH = "/health";
const STATUS_OF_LEAVING = 499;

/** The span of one request. */
export class RequestTrace {
  readonly #tracing: Tracing;
  readonly #span: OpenSpan;
  readonly #requestId: string;

  constructor(tracing: Tracing, requestId: string) {
    this.#tracing = tracing;
    this.#requestId = requestId;
    this.#span = tracing.start("api.request", { facts: { request_id: requestId } });
  }

  /** For what the request causes. */
  get traceparent(): string {
    return this.#span.traceparent;
  }

  /** Runs a ClickHouse statement in a span of its own, which ends when its answer begins or, for a page, when the page is read. */
  async statement<T>(name: string | undefined, run: () => Promise<T>): Promise<T> {
    const facts = { request_id: this.#requestId, statement: name };
    const span = this.#tracing.start("clickhouse.report", { parent: this.traceparent, facts });
    let isFailed = true;
    try {
      const result = await run();
      isFailed = false;
      return result;
    } finally {
      span.end({}, { isFailed });
    }
  }

  end(facts: Parameters<OpenSpan["end"]>[0], status: number): void {
    this.#span.end({ ...facts, status }, { isFailed: status >= 500 });
  }
}

/** Gives every request of `app` a span, which ends with its connection's answer. */
export function traceRequests(app: FastifyInstance, tracing: Tracing | undefined): void {
  app.decorateRequest("trace", undefined);
  if (tracing === undefined) return;
  app.addHook("onRequest", (request, { raw }, done) => {
    const { config, url: route } = request.routeOptions;
    if (route !== HEALTH) {
      const trace = new RequestTrace(tracing, request.id);
      request.trace = trace;
      const { method } = request;
      // Also when the client leaves before the answer.
      raw.once("close", () => {
        const status = raw.writableFinished ? raw.statusCode : STATUS_OF_LEAVING;
        trace.end({ method, route, operation: config.operation?.name }, status);
      });
    }
    done();
  });
}

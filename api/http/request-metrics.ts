import type { FastifyInstance } from "fastify";
import type { Metrics } from "../../schemas/host/metrics.ts";
import { STATUS_OF_LEAVING } from "./problem.ts";
import type { ClickhouseSlots } from "./slots/clickhouse-slots.ts";

const CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;

/** Counts requests and errors, and measures answers. */
export class RequestMetrics {
  readonly #seconds: ReturnType<typeof declareInstruments>["seconds"];
  readonly #refused: ReturnType<typeof declareInstruments>["refused"];
  readonly #reports: ReturnType<typeof declareInstruments>["reports"];
  #inFlight = 0;

  constructor(metrics: Metrics) {
    const { seconds, refused, reports } = declareInstruments(metrics);
    this.#seconds = seconds;
    this.#refused = refused;
    this.#reports = reports;
    metrics.gauge("api_in_flight", () => this.#inFlight);
  }

  /** Measures every request of `app`. */
  follow(app: FastifyInstance): void {
    app.addHook("onRequest", (request, { raw }, done) => {
      const startedAtMs = performance.now();
      this.#inFlight += 1;
      // Also when the client leaves before the answer.
      raw.once("close", () => {
        this.#inFlight -= 1;
        const operation = request.routeOptions.config.operation?.name ?? "none";
        const status = raw.writableFinished ? raw.statusCode : STATUS_OF_LEAVING;
        this.#answered(operation, status, (performance.now() - startedAtMs) / 1_000);
      });
      done();
    });
  }

  refused(cause: string): void {
    this.#refused.add(1, { cause });
  }

  /** The slots, whose holders are measured. */
  measured(slots: ClickhouseSlots["reports"]): ClickhouseSlots["reports"] {
    return {
      take: async (holder, left) => {
        const giveBack = await slots.take(holder, left);
        const startedAtMs = performance.now();
        let isHeld = true;
        return () => {
          if (isHeld) this.#reports.observe((performance.now() - startedAtMs) / 1_000);
          isHeld = false;
          giveBack();
        };
      },
    };
  }

  #answered(operation: string, status: number, seconds: number): void {
    const name = CLASSES[Math.floor(status / 100) - 2];
    if (name !== undefined) this.#seconds.observe(seconds, { operation, class: name });
  }
}

function declareInstruments(metrics: Metrics) {
  return {
    seconds: metrics.histogram("api_request_seconds"),
    refused: metrics.counter("api_refused_total"),
    reports: metrics.histogram("report_seconds"),
  };
}

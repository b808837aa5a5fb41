import type { Tracing } from "../schemas/tracing/tracing.ts";
import type { ReceivedRequest } from "./request/received-request.ts";

/** One redirect in so many has a span: a span for each would cost more than the redirects. */
const REDIRECTS_PER_SPAN = 10_000;
const REDIRECT = 302;

/** Spans of redirects: each process sends a span for its first redirect and then for one in 10,000. */
export class RedirectTraces {
  readonly #tracing: Tracing;
  /** Redirects until the next one with a span. */
  #left = 0;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  begin(request: ReceivedRequest): void {
    if (this.#left === 0) request.startedAtMs = performance.now();
  }

  /** Called after the answer was handed over. The span is made in a later turn, so that it delays no answer. */
  answered(request: ReceivedRequest, status: number): void {
    if (status !== REDIRECT) return;
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    // The redirect began before a span was due.
    if (request.startedAtMs === 0) return;
    this.#left = REDIRECTS_PER_SPAN - 1;
    const { requestId: request_id, method, route, startedAtMs } = request;
    const endedAtMs = performance.now();
    setImmediate(() => {
      const facts = { request_id, method, route: route.pattern, status };
      const span = this.#tracing.start("ingress.redirect", { atMs: startedAtMs, facts });
      span.end({}, { atMs: endedAtMs });
    });
  }
}

import type { AccessLog } from "../schemas/host/access-log.ts";
import type { Clock } from "../schemas/time/clock.ts";
import type { ReceivedRequest } from "./request/received-request.ts";

/** Notes the answers of this process in the access log. */
export class AccessNotes {
  readonly #log: AccessLog;
  readonly #clock: Clock;

  constructor(log: AccessLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  begin(request: ReceivedRequest): void {
    request.startedAtMs = performance.now();
  }

  answered(request: ReceivedRequest, status: number, bytes: number): void {
    if (!this.#log.wants(status)) return;
    this.#log.note({
      atMs: this.#clock.nowMs(),
      requestId: request.requestId,
      method: request.method,
      route: request.route.pattern,
      status,
      tookUs: Math.round((performance.now() - request.startedAtMs) * 1_000),
      bytes,
      host: request.headers.host,
      clickId: request.clickId,
      reason: request.reason,
    });
  }
}

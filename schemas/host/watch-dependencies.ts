import type { Metrics } from "./metrics.ts";
import { pause } from "./pause.ts";

export type Dependency = "postgres" | "nats" | "clickhouse";

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

/**
 * Asks the servers of a process something small every 5 s, so that `dependency_up` is right also without traffic. A server that does not
 * answer within 3 s is down. A question that hangs is not repeated until it ends.
 */
export class DependencyWatch {
  readonly #up = new Map<Dependency, boolean>();
  readonly #seconds: ReturnType<typeof declareSeconds>;
  readonly #end = new AbortController();

  constructor(metrics: Metrics) {
    metrics.gauges("dependency_up", () =>
      [...this.#up].map(([server, isUp]) => [{ server }, Number(isUp)]),
    );
    this.#seconds = declareSeconds(metrics);
  }

  /** `ask` rejects, or answers false, while the server is down. */
  watch(server: Dependency, ask: () => Promise<unknown>): void {
    void this.#run(server, ask);
  }

  close(): void {
    this.#end.abort();
  }

  async #run(server: Dependency, ask: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      const answer = ask().then(
        (isUp) => isUp !== false,
        () => false,
      );
      const isUp = await Promise.race([answer, pause(PATIENCE_MS, signal).then(() => undefined)]);
      if (signal.aborted) return;
      this.#up.set(server, isUp === true);
      if (isUp === true) {
        const seconds = (performance.now() - startedAtMs) / 1_000;
        this.#seconds.observe(seconds, { server, operation: "ping" });
      }
      await answer;
      await pause(ASK_EVERY_MS, signal);
    }
  }
}

function declareSeconds(metrics: Metrics) {
  return metrics.histogram("dependency_seconds");
}

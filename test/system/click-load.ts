import { pause, type ServiceClient } from "./service.ts";
import { storedClicks } from "./stored-clicks.ts";

/** Sends clicks, and records the requests that were answered and those whose outcome is unknown. */
export class ClickLoad {
  readonly run: string;
  /** Click id of every answered request, by request number. */
  readonly answered = new Map<number, string>();
  /** Requests without an answer. Each may be recorded or not. */
  readonly unanswered = new Set<number>();
  /** Requests that were answered with a server error. */
  refused = 0;
  #latenciesMs: number[] = [];
  readonly #client: ServiceClient;
  readonly #path: string;
  #next = 0;
  #startedMs = 0;
  #perSecond = Number.POSITIVE_INFINITY;
  #running = true;
  #loops: Promise<void>[] = [];

  /** `path` is a tracking link without query. */
  constructor(client: ServiceClient, path: string) {
    this.#client = client;
    this.#path = path;
    this.run = `load-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  }

  /** Sends with `concurrency` requests at once, as fast as possible or at a steady rate. A delay is made up for. */
  start(concurrency: number, perSecond = Number.POSITIVE_INFINITY): void {
    this.#startedMs = performance.now();
    this.#perSecond = perSecond;
    this.#loops = Array.from({ length: concurrency }, () => this.#loop());
    // `stop`, which every caller awaits, reports the error of a loop that failed.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  /** Latencies of the answers since the last call. */
  takeLatenciesMs(): number[] {
    const taken = this.#latenciesMs;
    this.#latenciesMs = [];
    return taken;
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
  }

  async #loop(): Promise<void> {
    while (this.#running) {
      const number = this.#next;
      this.#next += 1;
      const earlyMs = this.#startedMs + (number * 1_000) / this.#perSecond - performance.now();
      if (earlyMs > 0) await pause(earlyMs);
      const query = `sub1=${this.run}&sub2=${number}`;
      const sentAtMs = performance.now();
      try {
        const answer = await this.#client.attempt(`${this.#path}?${query}`, {
          "user-agent": `Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/12${number % 10}.0`,
        });
        this.#latenciesMs.push(performance.now() - sentAtMs);
        if (answer.status === 302) {
          this.answered.set(
            number,
            /trk_cid=([0-9a-f]{32})/.exec(String(answer.headers["set-cookie"]))?.[1] ?? "",
          );
        } else if (answer.status >= 500) {
          this.refused += 1;
          await pause(50);
        } else {
          throw new Error(`HTTP ${answer.status}: ${answer.body.slice(0, 200)}`);
        }
      } catch (error) {
        if (error instanceof Error && error.message.startsWith("HTTP ")) throw error;
        this.unanswered.add(number);
        await pause(50);
      }
    }
  }
}

/**
 * Compares stored clicks with the load, once. Each sentence names a click that is missing, stored twice, or was never sent.
 * `stored` are the clicks of the run that the service has.
 */
export function loadDifferences(
  load: ClickLoad,
  stored: readonly { click_id: string; sub2: string }[],
): string[] {
  const counts = new Map<string, number>();
  for (const row of stored) counts.set(row.click_id, (counts.get(row.click_id) ?? 0) + 1);
  const differences: string[] = [];
  for (const [number, clickId] of load.answered) {
    const count = counts.get(clickId) ?? 0;
    if (count !== 1) differences.push(`request ${number}, click ${clickId}: stored ${count} times`);
  }
  for (const row of stored) {
    const number = Number(row.sub2);
    if (load.answered.get(number) !== row.click_id && !load.unanswered.has(number)) {
      differences.push(
        `click ${row.click_id} belongs to no request without an answer (${row.sub2})`,
      );
    }
  }
  return differences;
}

/** The differences of several loads, read from ClickHouse directly. */
export async function clickDifferences(
  clickhouseUrl: string,
  loads: readonly ClickLoad[],
): Promise<string[]> {
  const all = await Promise.all(
    loads.map(async (load) => loadDifferences(load, await storedClicks(clickhouseUrl, load.run))),
  );
  return all.flat();
}

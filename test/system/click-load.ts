import { pause, type ServiceClient } from "./service.ts";
import { storedClicks } from "./stored-clicks.ts";

/** What the load knows of the requests it sent: those with an answer, and those nobody can tell about. */
export class ClickLoad {
  readonly run: string;
  /** Click id of every answered request, by its number. */
  readonly answered = new Map<number, string>();
  /** Requests whose answer never came: recorded or not, both are right. */
  readonly unanswered = new Set<number>();
  /** Requests that were answered with a fault of the server. */
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

  /** As fast as so many requests at once go, or at a steady rate: who falls behind it makes up for it. */
  start(concurrency: number, perSecond = Number.POSITIVE_INFINITY): void {
    this.#startedMs = performance.now();
    this.#perSecond = perSecond;
    this.#loops = Array.from({ length: concurrency }, () => this.#loop());
    // A loop that fails is told by `stop`, which everybody calls.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  /** How long the answers took that came since the last call. */
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
 * Holds what the service stored against the load, once: the sentences say what is missing, twice or made up. `stored` are
 * the clicks that the service shows for the run.
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

/** The same of several loads, read from ClickHouse itself. */
export async function clickDifferences(
  clickhouseUrl: string,
  loads: readonly ClickLoad[],
): Promise<string[]> {
  const all = await Promise.all(
    loads.map(async (load) => loadDifferences(load, await storedClicks(clickhouseUrl, load.run))),
  );
  return all.flat();
}

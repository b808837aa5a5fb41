import { MalformedAnswerError, type RawAnswer, RawConnection, rawRequest } from "./raw-http.ts";
import { pause, pauseUntilDue } from "./service.ts";
import { storedClicks } from "./stored-clicks.ts";

const AFTER_FAILURE_MS = 50;

/**
 * Sends clicks, and records the requests that were answered and those whose outcome is unknown. Its connections are plain sockets: a general
 * HTTP client took more processor time for a click than ingress, processors and api together.
 */
export class ClickLoad {
  readonly run: string;
  /** Click id of every answered request, by request number. */
  readonly answered = new Map<number, string>();
  /** Requests without an answer. Each may be recorded or not. */
  readonly unanswered = new Set<number>();
  /** Requests that were answered with a server error. */
  refused = 0;
  #latenciesMs: number[] = [];
  readonly #link: URL;
  #next = 0;
  #startedMs = 0;
  #perSecond = Number.POSITIVE_INFINITY;
  #running = true;
  #loops: Promise<void>[] = [];

  /** `link` is a tracking link without query. */
  constructor(link: string) {
    this.#link = new URL(link);
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
    let connection: RawConnection | undefined;
    try {
      while (this.#running) {
        const number = this.#next;
        this.#next += 1;
        await pauseUntilDue(number, { startedMs: this.#startedMs, perSecond: this.#perSecond });
        connection = await this.#request(connection, number);
      }
    } finally {
      connection?.destroy();
    }
  }

  /** Sends request `number`, and returns the connection if the next one may use it. */
  async #request(
    open: RawConnection | undefined,
    number: number,
  ): Promise<RawConnection | undefined> {
    const sentAtMs = performance.now();
    let connection = open;
    try {
      if (connection === undefined || connection.isClosed) connection = await this.#connect();
      connection.send(this.#textOf(number));
      const answer = await connection.answer();
      if (answer === undefined) throw new Error("the connection ended without an answer");
      this.#latenciesMs.push(performance.now() - sentAtMs);
      await this.#note(number, answer);
      if (answer.headers.get("connection")?.[0] !== "close") return connection;
    } catch (error) {
      if (error instanceof UnexpectedAnswerError || error instanceof MalformedAnswerError)
        throw error;
      this.unanswered.add(number);
      await pause(AFTER_FAILURE_MS);
    }
    connection?.destroy();
    return undefined;
  }

  async #connect(): Promise<RawConnection> {
    return await RawConnection.open(Number(this.#link.port || 80), { host: this.#link.hostname });
  }

  #textOf(number: number): string {
    const query = `sub1=${this.run}&sub2=${number}`;
    const browser = `Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/12${number % 10}.0`;
    return rawRequest(`${this.#link.pathname}?${query}`, {
      host: this.#link.host,
      headers: [`User-Agent: ${browser}`],
    });
  }

  async #note(number: number, { status, headers, body }: RawAnswer): Promise<void> {
    if (status === 302) {
      const [cookie = ""] = headers.get("set-cookie") ?? [];
      this.answered.set(number, /trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1] ?? "");
    } else if (status >= 500) {
      this.refused += 1;
      await pause(AFTER_FAILURE_MS);
    } else throw new UnexpectedAnswerError(`HTTP ${status}: ${body.slice(0, 200)}`);
  }
}

/** An answer that no click of a good link may get. */
class UnexpectedAnswerError extends Error {
  override readonly name = "UnexpectedAnswerError";
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

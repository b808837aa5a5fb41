import { randomUUID } from "node:crypto";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import {
  type CapReached,
  CapsReached,
  NOTICES_A_MESSAGE,
} from "../../../schemas/events/click-notice.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Counter, Metrics } from "../../../schemas/host/metrics.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import { type CounterCap, counterCapsOf, selectReachedCaps } from "./reached-caps.ts";

export type CapTellerDeps = {
  readonly pool: Pool;
  readonly nats: Nats;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** A cap is told of at most this long, and a round, after the conversion that reached it. */
const ROUND_MS = 500;
/** A process that has heard the round of another lets its own be; one that hears nothing steps in this soon. */
const PATIENCE_MS = 400;
const WHOLE_MS = 5_000;

/**
 * Tells every ingress which conversion, payout and revenue caps are reached (G40). Any number of processes may do so: each
 * round is told by one of them, whichever comes first. A counter falls only when Postgres is restored, and so what was told stays
 * true until then, until its period is over or the catalog has another limit, which ingress sees by itself.
 */
export class CapTeller {
  readonly #deps: CapTellerDeps;
  readonly #id = randomUUID();
  readonly #subscriptions: { unsubscribe(): void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #closed = false;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  #revision = -1;
  #generation = 0;
  #caps: readonly CounterCap[] = [];
  /** By name, what was told last, by anyone. */
  readonly #told = new Map<string, string>();
  readonly #rounds: Counter;
  readonly #failures: Counter;

  constructor(deps: CapTellerDeps) {
    this.#deps = deps;
    const { metrics } = deps;
    this.#rounds = metrics.counter("caps_rounds_total", "Rounds of telling reached caps.");
    this.#failures = metrics.counter("caps_round_failures_total", "Rounds that failed.");
    metrics.gauge("caps_watched", "Conversion, payout and revenue caps.", () => this.#caps.length);
  }

  start(): void {
    const { nats, log } = this.#deps;
    const { connection, subjects } = nats;
    const follow = (subject: string, take: (message: { json(): unknown }) => void): void => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          try {
            if (error !== null) throw error;
            take(message);
          } catch (fault) {
            log.error({ err: fault, subject }, "caps.unreadable-notice");
          }
        },
      });
      this.#subscriptions.push(subscription);
    };
    follow(subjects.capsReached, (message) => this.#heard(CapsReached.parse(message.json())));
    follow(subjects.clickNoticesWanted, () => {
      this.#wholeAtMs = Number.NEGATIVE_INFINITY;
      this.#heardAtMs = Number.NEGATIVE_INFINITY;
    });
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (!this.#deps.nats.connection.isClosed()) {
      for (const subscription of this.#subscriptions) subscription.unsubscribe();
    }
    await this.#round;
  }

  #heard({ teller, isWhole, reached }: CapsReached): void {
    if (teller === this.#id) return;
    this.#heardAtMs = performance.now();
    if (isWhole) this.#wholeAtMs = this.#heardAtMs;
    for (const cap of reached) this.#told.set(cap.cap, wordOf(cap));
  }

  #schedule(): void {
    if (this.#closed) return;
    // Processes that began together do not stay in step.
    const delayMs = ROUND_MS * (0.8 + Math.random() * 0.2);
    this.#timer = setTimeout(() => {
      this.#round = this.#tell().finally(() => this.#schedule());
    }, delayMs);
  }

  /** Never throws: the next round is soon. */
  async #tell(): Promise<void> {
    const { pool, nats, catalog, clock, log } = this.#deps;
    if (performance.now() - this.#heardAtMs < PATIENCE_MS) return;
    if (!catalog.isLoaded || nats.connection.isClosed()) return;
    try {
      this.#follow(catalog);
      const whole = performance.now() - this.#wholeAtMs >= WHOLE_MS;
      const reached = await selectReachedCaps(pool, this.#caps, clock.nowMs());
      const news = whole
        ? reached
        : reached.filter((cap) => this.#told.get(cap.cap) !== wordOf(cap));
      this.#publish(nats, news, whole);
      for (const cap of news) this.#told.set(cap.cap, wordOf(cap));
      if (whole) this.#wholeAtMs = performance.now();
      this.#rounds.add();
    } catch (error) {
      this.#failures.add();
      if (!this.#closed) log.warn({ err: error }, "caps.round-failed");
    }
  }

  #follow(catalog: Catalog): void {
    if (catalog.revision === this.#revision) return;
    this.#revision = catalog.revision;
    if (catalog.generation !== this.#generation) {
      // Counters went back with Postgres, and every ingress forgets what it was told of them.
      this.#told.clear();
      this.#wholeAtMs = Number.NEGATIVE_INFINITY;
    }
    this.#generation = catalog.generation;
    this.#caps = counterCapsOf(catalog);
    // Bounded by what the catalog has.
    const names = new Set(this.#caps.map(({ name }) => name));
    for (const name of this.#told.keys()) if (!names.has(name)) this.#told.delete(name);
  }

  #publish(nats: Nats, news: readonly CapReached[], isWhole: boolean): void {
    // Without news the message says that a round was done.
    for (let from = 0; from === 0 || from < news.length; from += NOTICES_A_MESSAGE) {
      const reached = news.slice(from, from + NOTICES_A_MESSAGE);
      const message: CapsReached = { teller: this.#id, isWhole, reached };
      nats.connection.publish(nats.subjects.capsReached, JSON.stringify(message));
    }
  }
}

function wordOf({ bucket, limit }: CapReached): string {
  return `${bucket} ${limit}`;
}

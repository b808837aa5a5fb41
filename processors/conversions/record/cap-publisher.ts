import { randomUUID } from "node:crypto";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import {
  type CapReached,
  CapsReached,
  NOTICES_PER_MESSAGE,
} from "../../../schemas/events/click-notice.ts";
import type { Counter } from "../../../schemas/host/metrics.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { RoleDeps } from "../../role-deps.ts";
import { type CounterCap, counterCapsOf, selectReachedCaps } from "./reached-caps.ts";

export type CapPublisherDeps = Pick<
  RoleDeps,
  "pool" | "nats" | "catalog" | "clock" | "log" | "metrics"
>;

/** A reached cap is published at most this long, plus the time of one round, after the conversion that reached it. */
const ROUND_MS = 500;
/** A process skips its round if another process published one within this time, else it publishes. */
const PATIENCE_MS = 400;
const WHOLE_MS = 5_000;

/**
 * Publishes to every ingress which conversion, payout and revenue caps are reached (G40). Any number of processes may run it; the first
 * one in each round publishes. A counter falls only when Postgres is restored. So a published cap stays reached until then, until its
 * period ends, or until the catalog has another limit, which ingress notices by itself, or a cheaper price: then rounds of all reached
 * caps no longer have it.
 */
export class CapPublisher {
  readonly #deps: CapPublisherDeps;
  readonly #id = randomUUID();
  readonly #subscriptions: { unsubscribe(): void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #closed = false;
  #otherRoundAtMs = Number.NEGATIVE_INFINITY;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  #revision = -1;
  #generation = 0;
  #caps: readonly CounterCap[] = [];
  /** By name of the cap: bucket and limit as last published by any process. */
  readonly #published = new Map<string, string>();
  readonly #rounds: Counter;
  readonly #failures: Counter;

  constructor(deps: CapPublisherDeps) {
    this.#deps = deps;
    const { metrics } = deps;
    this.#rounds = metrics.counter("caps_rounds_total");
    this.#failures = metrics.counter("caps_round_failures_total");
    metrics.gauge("caps_watched", () => this.#caps.length);
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
    follow(subjects.capsReached, (message) => this.#noteRound(CapsReached.parse(message.json())));
    follow(subjects.clickNoticesRequest, () => {
      this.#wholeAtMs = Number.NEGATIVE_INFINITY;
      this.#otherRoundAtMs = Number.NEGATIVE_INFINITY;
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

  #noteRound({ teller: publisher, isWhole, reached }: CapsReached): void {
    if (publisher === this.#id) return;
    this.#otherRoundAtMs = performance.now();
    if (isWhole) this.#wholeAtMs = this.#otherRoundAtMs;
    for (const cap of reached) this.#published.set(cap.cap, valueOf(cap));
  }

  #schedule(): void {
    if (this.#closed) return;
    // Processes that started together drift apart.
    const delayMs = ROUND_MS * (0.8 + Math.random() * 0.2);
    this.#timer = setTimeout(() => {
      this.#round = this.#publishReached().finally(() => this.#schedule());
    }, delayMs);
  }

  /** Never throws: a failed round is repeated soon. */
  async #publishReached(): Promise<void> {
    const { pool, nats, catalog, clock, log } = this.#deps;
    if (performance.now() - this.#otherRoundAtMs < PATIENCE_MS) return;
    if (!catalog.isLoaded || nats.connection.isClosed()) return;
    try {
      this.#follow(catalog);
      const whole = performance.now() - this.#wholeAtMs >= WHOLE_MS;
      const reached = await selectReachedCaps(pool, this.#caps, clock.nowMs());
      const news = whole
        ? reached
        : reached.filter((cap) => this.#published.get(cap.cap) !== valueOf(cap));
      this.#send(nats, news, whole);
      // A cap that is no longer reached is news when it is reached again.
      const names = new Set(reached.map(({ cap }) => cap));
      for (const name of this.#published.keys()) if (!names.has(name)) this.#published.delete(name);
      for (const cap of news) this.#published.set(cap.cap, valueOf(cap));
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
      // Postgres was restored, so counters may be lower. Every ingress forgets the caps that were published, and so does this process.
      this.#published.clear();
      this.#wholeAtMs = Number.NEGATIVE_INFINITY;
    }
    this.#generation = catalog.generation;
    this.#caps = counterCapsOf(catalog);
    // Keeps the map no larger than the catalog.
    const names = new Set(this.#caps.map(({ name }) => name));
    for (const name of this.#published.keys()) if (!names.has(name)) this.#published.delete(name);
  }

  #send(nats: Nats, news: readonly CapReached[], isWhole: boolean): void {
    // A message without caps says that a round was done.
    for (let from = 0; from === 0 || from < news.length; from += NOTICES_PER_MESSAGE) {
      const reached = news.slice(from, from + NOTICES_PER_MESSAGE);
      const isLast = isWhole && from + NOTICES_PER_MESSAGE >= news.length;
      const message: CapsReached = { teller: this.#id, isWhole, isLast, reached };
      nats.connection.publish(nats.subjects.capsReached, JSON.stringify(message));
    }
  }
}

function valueOf({ bucket, limit }: CapReached): string {
  return `${bucket} ${limit}`;
}

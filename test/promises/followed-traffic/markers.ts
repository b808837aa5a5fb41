import { z } from "zod";
import { pause } from "../../system/service.ts";
import type { Market } from "./market.ts";
import type { Orders } from "./orders.ts";
import type { Traffic } from "./traffic.ts";

const EVERY_MS = 250;
const LOOK_MS = 100;
/** After the last marker. */
const GIVEN_UP_MS = 30_000;

/** One kind of answers, by the name of the marker. Times are UTC ms of this machine. */
class Awaited {
  /** The longest from an answer to the question for a report that did not have it. */
  behindMs = 0;
  /** The longest from an answer to the arrival of the first report that had it: with the time that the report itself took. */
  shownAfterMs = 0;
  readonly answeredAtMs = new Map<string, number>();
  readonly #seen = new Set<string>();

  /** Takes a report that was asked for at `askedAtMs` and had the markers of `names`. */
  compare(names: ReadonlySet<string>, askedAtMs: number): void {
    for (const [name, answeredAtMs] of this.answeredAtMs) {
      if (this.#seen.has(name)) continue;
      if (names.has(name)) {
        this.#seen.add(name);
        this.shownAfterMs = Math.max(this.shownAfterMs, Date.now() - answeredAtMs);
      } else {
        this.behindMs = Math.max(this.behindMs, askedAtMs - answeredAtMs);
      }
    }
  }

  get missing(): string[] {
    return [...this.answeredAtMs.keys()].filter((name) => !this.#seen.has(name));
  }
}

const Shown = z.object({
  data: z.array(z.object({ sub1: z.string(), clicks: z.int(), conversions: z.int() })),
});

/** Sends a click and its conversion every 250 ms, and looks when a report has them. */
export class Markers {
  readonly clicks = new Awaited();
  readonly conversions = new Awaited();
  readonly #market: Market;
  readonly #traffic: Traffic;
  readonly #orders: Orders;
  readonly #from = new Date().toISOString();
  #isSending = true;
  #loops: Promise<void>[] = [];

  constructor(market: Market, traffic: Traffic, orders: Orders) {
    this.#market = market;
    this.#traffic = traffic;
    this.#orders = orders;
  }

  start(): void {
    this.#loops = [this.#send(), this.#look()];
    // A loop that fails is told by `stop`, which everybody calls.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  /** Sends no more, and answers when all that were sent were seen, or 30 s later; names those that were not. */
  async stop(): Promise<string[]> {
    this.#isSending = false;
    await Promise.all(this.#loops);
    return this.#unseen();
  }

  async #send(): Promise<void> {
    const [event] = this.#market.offers[0]?.events ?? [];
    if (event === undefined) throw new Error("the first offer has no event");
    for (let number = 0; this.#isSending; number += 1) {
      const dueMs = Date.now() + EVERY_MS;
      const click = await this.#traffic.mark(number);
      this.clicks.answeredAtMs.set(click.sub1, Date.now());
      await this.#orders.report(click, { event, txid: click.sub1 });
      this.conversions.answeredAtMs.set(click.sub1, Date.now());
      await pause(Math.max(0, dueMs - Date.now()));
    }
  }

  async #look(): Promise<void> {
    let stoppedAtMs: number | undefined;
    for (;;) {
      const askedAtMs = Date.now();
      const rows = await this.#shown();
      const having = (metric: "clicks" | "conversions"): Set<string> =>
        new Set(rows.filter((row) => row[metric] > 0).map(({ sub1 }) => sub1));
      this.clicks.compare(having("clicks"), askedAtMs);
      this.conversions.compare(having("conversions"), askedAtMs);
      if (!this.#isSending) {
        stoppedAtMs ??= Date.now();
        if (this.#unseen().length === 0 || Date.now() - stoppedAtMs > GIVEN_UP_MS) return;
      }
      await pause(LOOK_MS);
    }
  }

  #unseen(): string[] {
    return [...this.clicks.missing, ...this.conversions.missing];
  }

  async #shown(): Promise<z.infer<typeof Shown>["data"]> {
    const query = new URLSearchParams({
      group_by: "sub1",
      metrics: "clicks,conversions",
      filters: "sub1:starts_with:m-",
      from: this.#from,
      limit: "10000",
    });
    return Shown.parse(await this.#market.client.rest(`/reports?${query}`)).data;
  }
}

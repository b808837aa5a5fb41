import { z } from "zod";
import { pause } from "../../../system/service.ts";
import type { Market } from "./market.ts";
import type { Orders } from "./orders.ts";
import type { Traffic } from "./traffic.ts";

const EVERY_MS = 250;
const LOOK_MS = 100;
/** Time to wait after the last marker. */
const GIVEN_UP_MS = 30_000;

/** Delays of the answers of one kind, by the name of the marker. Times are UTC ms of this machine. */
class Awaited {
  /** The longest time from an answer to the request of a report that still lacked it. */
  behindMs = 0;
  /** The longest time from an answer to the arrival of the first report that had it, including the report's own duration. */
  shownAfterMs = 0;
  readonly answeredAtMs = new Map<string, number>();
  readonly #seen = new Set<string>();

  /** Takes a report that was requested at `requestedAtMs` and contained the markers of `names`. */
  compare(names: ReadonlySet<string>, requestedAtMs: number): void {
    for (const [name, answeredAtMs] of this.answeredAtMs) {
      if (this.#seen.has(name)) continue;
      if (names.has(name)) {
        this.#seen.add(name);
        this.shownAfterMs = Math.max(this.shownAfterMs, Date.now() - answeredAtMs);
      } else {
        this.behindMs = Math.max(this.behindMs, requestedAtMs - answeredAtMs);
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

/** Sends a click and its conversion every 250 ms, and measures when a report shows them. */
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
    // `stop`, which every caller awaits, reports the error of a loop that failed.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  /** Stops sending and waits until reports have shown every marker, at most 30 s. Returns the names of the missing ones. */
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
      const requestedAtMs = Date.now();
      const rows = await this.#shown();
      const having = (metric: "clicks" | "conversions"): Set<string> =>
        new Set(rows.filter((row) => row[metric] > 0).map(({ sub1 }) => sub1));
      this.clicks.compare(having("clicks"), requestedAtMs);
      this.conversions.compare(having("conversions"), requestedAtMs);
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

import { z } from "zod";
import { pause } from "../../replay/service.ts";
import type { Market } from "./market.ts";
import type { Orders } from "./orders.ts";
import type { Traffic } from "./traffic.ts";

const EVERY_MS = 250;
const LOOK_MS = 100;
/** After the last marker. */
const GIVEN_UP_MS = 30_000;

type Lag = { worstMs: number; count: number };
type Marker = {
  clickedAtMs: number;
  boughtAtMs: number;
  isClickSeen: boolean;
  isSaleSeen: boolean;
};

const Shown = z.object({
  data: z.array(z.object({ sub1: z.string(), clicks: z.int(), conversions: z.int() })),
});

/** Sends a click and its conversion every 250 ms, and looks when a report has them. */
export class Markers {
  /** From an answer to the arrival of the first report that shows what it was for. */
  readonly clicks: Lag = { worstMs: 0, count: 0 };
  readonly conversions: Lag = { worstMs: 0, count: 0 };
  readonly #market: Market;
  readonly #traffic: Traffic;
  readonly #orders: Orders;
  readonly #markers = new Map<string, Marker>();
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
    return [...this.#markers]
      .filter(([, { isClickSeen, isSaleSeen }]) => !isClickSeen || !isSaleSeen)
      .map(([name]) => name);
  }

  async #send(): Promise<void> {
    const [event] = this.#market.offers[0]?.events ?? [];
    if (event === undefined) throw new Error("the first offer has no event");
    for (let number = 0; this.#isSending; number += 1) {
      const dueMs = Date.now() + EVERY_MS;
      const click = await this.#traffic.mark(number);
      const marker = {
        clickedAtMs: Date.now(),
        boughtAtMs: 0,
        isClickSeen: false,
        isSaleSeen: false,
      };
      this.#markers.set(click.sub1, marker);
      await this.#orders.report(click, { event, txid: click.sub1 });
      marker.boughtAtMs = Date.now();
      await pause(Math.max(0, dueMs - Date.now()));
    }
  }

  async #look(): Promise<void> {
    let stoppedAtMs = 0;
    for (;;) {
      for (const { sub1, clicks, conversions } of await this.#shown()) {
        const marker = this.#markers.get(sub1);
        if (marker === undefined) continue;
        const { clickedAtMs, boughtAtMs } = marker;
        if (clicks > 0 && !marker.isClickSeen) {
          marker.isClickSeen = true;
          note(this.clicks, clickedAtMs);
        }
        // A report may have a conversion before its sender has the answer.
        if (conversions > 0 && boughtAtMs > 0 && !marker.isSaleSeen) {
          marker.isSaleSeen = true;
          note(this.conversions, boughtAtMs);
        }
      }
      const isAllSeen = [...this.#markers.values()].every(
        (one) => one.isClickSeen && one.isSaleSeen,
      );
      if (!this.#isSending) {
        stoppedAtMs ||= Date.now();
        if (isAllSeen || Date.now() - stoppedAtMs > GIVEN_UP_MS) return;
      }
      await pause(LOOK_MS);
    }
  }

  async #shown(): Promise<z.infer<typeof Shown>["data"]> {
    const query = new URLSearchParams({
      ...{ group_by: "sub1", metrics: "clicks,conversions", filters: "sub1:starts_with:m-" },
      ...{ from: this.#from, limit: "10000" },
    });
    return Shown.parse(await this.#market.client.rest(`/reports?${query}`)).data;
  }
}

function note(lag: Lag, sinceMs: number): void {
  lag.worstMs = Math.max(lag.worstMs, Date.now() - sinceMs);
  lag.count += 1;
}

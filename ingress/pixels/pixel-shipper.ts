import { z } from "zod";
import { COUPON_CLICK_MS } from "../../schemas/events/coupon-click.ts";
import { type PostbackReply, PostbackRequest } from "../../schemas/events/postback-request.ts";
import { Backoff } from "../../schemas/host/backoff.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import { isOutage } from "../ask-conversions.ts";
import { couponClickRecord } from "../coupon-clicks.ts";
import type { Pending } from "../journal/journal.ts";
import type { Recorded } from "../route.ts";
import type { PixelEvents } from "./metrics.ts";
import type { TakenPixels, WaitingPixel } from "./pixel-files.ts";
import type { PixelStore } from "./pixel-store.ts";

const DELAY_MS_MIN = 500;
const DELAY_MS_MAX = 15_000;
/** Spreads the waits of many processes. */
const SPREAD = [0.75, 1.25] as const;
/** This many outages in a row end a round, because then the service is down and no single pixel is the cause. */
const OUTAGES_PER_ROUND = 8;
/**
 * After this many rounds without success, a round starts after the pixels already tried, so that a few hopeless pixels do not block the
 * rest.
 */
const ROUNDS_FROM_THE_OLDEST = 3;
/** Longer than the wait for any click ID. If a pixel still fails after this time, the cause is a bug of ours. */
const FAULT_AGE_MS = 72 * 3_600_000;

export type PixelShipperOptions = {
  readonly store: PixelStore;
  /** Undefined when no processor answered. */
  readonly ask: (report: PostbackRequest) => Promise<PostbackReply | undefined>;
  /** Records the click of a coupon. Returns what to wait for, if anything. */
  readonly record: (recorded: Recorded) => Pending | undefined;
  /** Number of this process's journal, into which such a click goes. */
  readonly producer: number;
  readonly events: PixelEvents;
  readonly clock: Clock;
  readonly delayMsMin?: number;
};

type Verdict = "settled" | "outage" | "unanswered";

/**
 * Sends kept pixels to the conversion processors until each has a definite answer: one at a time, oldest first, as often as needed. If a
 * pixel was recorded but its answer was lost, the processors recognise it by its conversion ID.
 */
export class PixelShipper {
  readonly #options: PixelShipperOptions;
  readonly #delayMsMin: number;

  constructor(options: PixelShipperOptions) {
    this.#options = options;
    this.#delayMsMin = options.delayMsMin ?? DELAY_MS_MIN;
  }

  /** Runs until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const taken = this.#options.store.takeOldest();
        if (taken !== undefined) await this.#sendFile(taken, signal);
      } catch (error) {
        this.#options.events.sendFailed(error);
      }
      await pause(this.#delayMsMin, signal);
    }
  }

  async #sendFile(taken: TakenPixels, signal: AbortSignal): Promise<void> {
    const left = [...taken.pixels];
    try {
      await this.#sendAll(taken, left, signal);
    } finally {
      this.#options.store.giveBack(taken, left.length === 0);
    }
  }

  async #sendAll(taken: TakenPixels, left: WaitingPixel[], signal: AbortSignal): Promise<void> {
    const bounds = { firstMs: this.#delayMsMin, longestMs: DELAY_MS_MAX };
    const backoff = new Backoff({ ...bounds, spread: SPREAD, signal });
    let asideFrom = 0;
    for (let fruitless = 0; left.length > 0 && !signal.aborted; ) {
      const isAside = fruitless > 0 && fruitless % ROUNDS_FROM_THE_OLDEST === 0;
      const before = left.length;
      const from = isAside ? asideFrom % left.length : 0;
      const endedAt = await this.#round(taken, left, from, signal);
      asideFrom = isAside ? endedAt : Math.max(asideFrom, endedAt);
      const hasSettled = left.length < before;
      fruitless = hasSettled ? 0 : fruitless + 1;
      if (hasSettled) backoff.reset();
      if (left.length > 0) await backoff.pause();
    }
  }

  /** Removes settled pixels from `left`. Returns where the round ended. */
  async #round(
    taken: TakenPixels,
    left: WaitingPixel[],
    from: number,
    signal: AbortSignal,
  ): Promise<number> {
    let at = from;
    for (let outages = 0; at < left.length && outages < OUTAGES_PER_ROUND && !signal.aborted; ) {
      const pixel = left[at];
      if (pixel === undefined) break;
      const verdict = await this.#send(pixel, signal);
      if (verdict === "unanswered") break;
      if (verdict === "outage") {
        outages += 1;
        at += 1;
        continue;
      }
      outages = 0;
      taken.settle(pixel);
      left.splice(at, 1);
    }
    return at;
  }

  async #send({ line }: WaitingPixel, signal: AbortSignal): Promise<Verdict> {
    const { ask, store, events, record, producer, clock } = this.#options;
    const report = reportOf(line);
    if (report === undefined) return this.#keepForNewer(line);
    let reply: PostbackReply | undefined;
    const recordsUntilMs = clock.nowMs() + COUPON_CLICK_MS;
    try {
      const asked = ask({ ...report, producer, recordsUntilMs, isRepeat: true });
      // A process that ends does not wait. A lost answer does no harm, because the next process asks again.
      reply = await unlessAborted(asked, signal);
    } catch (error) {
      events.sendFailed(error);
      return "outage";
    }
    if (isOutage(reply)) {
      if (reply === undefined) return "unanswered";
      const isFinal =
        reply.result === "error" && clock.nowMs() - report.receivedAtMs > FAULT_AGE_MS;
      if (!isFinal) return "outage";
      events.givenUp("fault", store.waiting);
      return "settled";
    }
    const { couponClick } = reply;
    const click =
      couponClick === undefined ? undefined : couponClickRecord(couponClick, recordsUntilMs, clock);
    const pending = click === undefined ? undefined : record(click);
    if (pending !== undefined) await new Promise<void>(pending);
    events.recorded(reply.result);
    return "settled";
  }

  /** A newer release kept it and sends it when it runs again. It is given up when that has not happened for days. */
  #keepForNewer(line: string): Verdict {
    const { events, store, clock } = this.#options;
    const receivedAtMs = receivedAtMsOf(line);
    if (receivedAtMs === undefined) events.givenUp("unreadable", store.waiting);
    else if (clock.nowMs() - receivedAtMs <= FAULT_AGE_MS) return "outage";
    else events.givenUp("fault", store.waiting);
    return "settled";
  }
}

/** All that is read of a pixel that a newer release has kept. */
const NewerPixel = z.object({ receivedAtMs: z.int() });

function receivedAtMsOf(line: string): number | undefined {
  try {
    return NewerPixel.safeParse(JSON.parse(line)).data?.receivedAtMs;
  } catch {
    // Not JSON, so no release has written it.
    return undefined;
  }
}

/** Undefined for a line that this release has not written. */
function reportOf(line: string): PostbackRequest | undefined {
  try {
    return PostbackRequest.parse(JSON.parse(line));
  } catch {
    // The error is not logged, because its text would quote the pixel.
    return undefined;
  }
}

/** Undefined as soon as the signal ends the wait. */
async function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let end: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
    signal.addEventListener("abort", end);
  });
  try {
    return await Promise.race([asked, aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

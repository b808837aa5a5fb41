import type { Clocks } from "../rows/present-time.ts";
import { forgetOldest } from "./forget-oldest.ts";
import { LateClicks } from "./late-clicks.ts";
import { OfferClasses } from "./offer-classes.ts";
import type { Visit } from "./visit-print.ts";
import { VisitTable } from "./visit-table.ts";

/** Share of `entriesMax` that stays after visits had to be forgotten. */
const KEPT_SHARE = 0.75;
/**
 * At least so many new visits, as a share of `entriesMax`, follow a search of the whole table for expired visits. So a table that is just
 * full does not search for each visit. It may have as many more visits, all expired.
 */
const SWEEP_SHARE = 1 / 64;
const OLDEST_CHECK_MS = 30_000;
/**
 * Visits that are looked at for each new visit while room is made: five passes over the table end before a thirty-second of the table was added. The
 * passes run in turns of some milliseconds.
 */
const LOOKS_PER_VISIT = 5 * 32;
const LOOKS_PER_TURN = 100_000;

/** Visits that were forgotten within their window: their visitors may count as unique, and be paid for, again. */
export type ForgottenVisits = {
  readonly visits: number;
  /** The offer with the most visits, which lost the most. */
  readonly offerId: number;
  /** UTC ms: its earlier visits are forgotten. */
  readonly knownFromMs: number;
};

export type UniqueClicksOptions = {
  readonly entriesMax: number;
  readonly retentionMs: number;
  readonly onForgotten?: (forgotten: ForgottenVisits) => void;
  /** For tests: the average number of visits at which the number of buckets doubles. */
  readonly bucketEntriesMax?: number;
};

/**
 * The time of each visitor's last unique click on an offer of a partner (G87), in about 12 bytes (visit-segment.ts). A visit is known by 60 bits
 * of a hash: among 100 million visits, 0.004 are expected to share them with another visit.
 *
 * No time in it is later than the newest clock was when the entry was made. If that clock goes back, a later time counts as the present
 * time until the owner reads the visits from the table again (`unique-window.ts`).
 *
 * Bounded: above `entriesMax` the oldest visits of the largest offers are forgotten, until a quarter of `entriesMax` is free. So a flood on one
 * offer does not remove visits of other offers. The work is spread over the next visits, so that no click waits for all of it; until the work is
 * done there are up to a twentieth more visits.
 */
export class UniqueClicks {
  readonly entriesMax: number;
  readonly #table: VisitTable;
  readonly #classes: OfferClasses;
  readonly #late = new LateClicks();
  #latestMs = 0;
  /** Visits that were added since the table was last searched for expired ones. */
  #addedSinceSweep = Number.POSITIVE_INFINITY;
  /** While room is made. */
  #room: Generator<number, void, void> | undefined;
  /** Visits that may be looked at for it; negative after a turn. */
  #looks = 0;
  /** Visits forgotten within their window since the start. */
  forgotten = 0;
  /** Entries older by this than both the newest entry and this process's clock are dropped when room is needed. */
  retentionMs: number;
  /** The owner must set it with each message. By default no clock bounds a time. */
  clocks: Clocks = { ownMs: Number.POSITIVE_INFINITY, newestMs: Number.POSITIVE_INFINITY };
  readonly #onForgotten: ((forgotten: ForgottenVisits) => void) | undefined;
  #oldest = { ms: undefined as number | undefined, checkedAtMs: Number.NEGATIVE_INFINITY };

  constructor(options: UniqueClicksOptions) {
    const { entriesMax, bucketEntriesMax } = options;
    this.entriesMax = entriesMax;
    this.retentionMs = options.retentionMs;
    this.#onForgotten = options.onForgotten;
    const dropBeforeMs = (): number => this.#dropBeforeMs();
    this.#table = new VisitTable({ entriesMax, bucketEntriesMax, dropBeforeMs });
    this.#classes = new OfferClasses(this.#table.tally);
  }

  get size(): number {
    return this.#table.tally.size;
  }

  /** The latest time of a visit, UTC ms; 0 if there is none. */
  get latestMs(): number {
    return this.#latestMs;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** Time of the oldest visit in memory, UTC ms; undefined if there is none. The value is cached for 30 s. */
  get oldestMs(): number | undefined {
    if (performance.now() - this.#oldest.checkedAtMs > OLDEST_CHECK_MS)
      this.#oldest = { ms: this.#table.oldestMs, checkedAtMs: performance.now() };
    return this.#oldest.ms;
  }

  /** Whether this visit is unique; if so, it is remembered. Must be called in the order of the stream. */
  take(visit: Visit, atMs: number, windowMs: number): boolean {
    const clickMs = Math.min(atMs, this.clocks.newestMs);
    let lastMs = this.#lastMs(visit);
    if (lastMs - clickMs >= windowMs) {
      // This click is much older than the remembered one: it comes from the journal of a producer that was cut off. Such clicks have a
      // second entry, under the complement of the partner's ID, which no partner has.
      lastMs = this.#lastMs({ ...visit, affiliateId: ~visit.affiliateId });
      // Older than the second entry too: it is not known whether it is unique, so it is not paid.
      if (lastMs - clickMs >= windowMs) return false;
    }
    if (Math.abs(clickMs - lastMs) < windowMs) return false;
    this.#put(visit.offerId, clickMs);
    return true;
  }

  /** Adds a unique click that is already stored. */
  remember(visit: Visit, atMs: number): void {
    const lastMs = this.#lastMs(visit);
    this.#put(visit.offerId, Math.max(Math.min(atMs, this.clocks.newestMs), lastMs));
  }

  /**
   * Until `settle` has ended, only `load` may be called: it is faster than `remember`, because it does not look for an earlier click. For
   * an empty memory. `expected` is about how many clicks will be loaded.
   */
  beginLoading(expected: number): void {
    this.#table.beginLoading(expected);
  }

  /** Adds a unique click that is already stored, in any order. */
  load(visit: Visit, atMs: number): void {
    if (!this.#table.isLoading) {
      this.remember(visit, atMs);
      return;
    }
    const clickMs = Math.min(atMs, this.clocks.newestMs);
    this.#latestMs = Math.max(this.#latestMs, clickMs);
    this.#table.load(visit, this.#classes.classOf(visit.offerId), clickMs);
  }

  /** Whether `settle` must be called before more clicks are loaded, to find out how many different visits they are. */
  get mustSettle(): boolean {
    return this.#table.isLoading && this.size > this.entriesMax;
  }

  /** Ends loading in steps of some milliseconds. */
  *settle(): Generator<void, void, void> {
    if (!this.#table.isLoading) return;
    yield* this.#table.settle();
    if (this.size <= this.entriesMax) return;
    for (const _looks of this.#makingRoom()) yield;
  }

  /** The time of a visit; minus infinity without one. The table then points at it. */
  #lastMs(visit: Visit): number {
    return Math.min(this.#table.seek(visit), this.clocks.newestMs);
  }

  /** Writes the time of the visit that `#lastMs` was called for last. */
  #put(offerId: number, atMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, atMs);
    const presentMs = this.#presentMs;
    if (atMs < presentMs - this.retentionMs) this.#late.note(atMs, presentMs);
    const { size } = this;
    this.#table.put(this.#classes.classOf(offerId), atMs);
    if (this.size <= size) return;
    this.#addedSinceSweep += 1;
    this.#makeRoom();
  }

  /** A single producer whose clock is ahead must not make the visits of all others look old. */
  get #presentMs(): number {
    return Math.min(this.#latestMs, this.clocks.ownMs);
  }

  #dropBeforeMs(): number {
    const presentMs = this.#presentMs;
    return Math.min(presentMs - this.retentionMs, this.#late.earliestMs(presentMs));
  }

  /** Goes on making room, or begins when it is needed. */
  #makeRoom(): void {
    if (this.#room === undefined) {
      if (this.size <= this.entriesMax) return;
      if (this.#addedSinceSweep < this.entriesMax * SWEEP_SHARE) return;
      this.#room = this.#makingRoom();
      this.#looks = 0;
    }
    this.#looks += LOOKS_PER_VISIT;
    if (this.#looks <= 0) return;
    for (let looks = 0; looks < LOOKS_PER_TURN; ) {
      const step = this.#room.next();
      if (step.done === true) {
        this.#room = undefined;
        return;
      }
      looks += step.value;
      this.#looks -= step.value;
    }
  }

  /** Drops expired visits, and if that is not enough, forgets the oldest of the largest offers. */
  *#makingRoom(): Generator<number, void, void> {
    this.#addedSinceSweep = 0;
    const fromMs = this.#presentMs - this.retentionMs;
    yield* this.#table.dropBefore(fromMs);
    if (this.size <= this.entriesMax) return;
    const kept = Math.floor(this.entriesMax * KEPT_SHARE);
    const forgotten = yield* forgetOldest(this.#table, kept, { fromMs, toMs: this.#latestMs });
    this.forgotten += forgotten.visits;
    const offerId = this.#classes.offerOf(forgotten.offerClass);
    this.#onForgotten?.({ visits: forgotten.visits, offerId, knownFromMs: forgotten.knownFromMs });
  }
}

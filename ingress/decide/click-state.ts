import { CAP_PERIODS, type CapPeriod, type Offer } from "../../schemas/catalog/records.ts";
import { mondayOf, yearMonthOf } from "../../schemas/time/calendar.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, zoneOf } from "../../schemas/time/zone.ts";

const VISITORS_REMEMBERED_MAX = 200_000;

/** What earlier clicks mean for the next one. */
export type ClickState = {
  /** Whether a cap of the offer is reached, in the periods of its workspace's time zone (G39, G40). */
  readonly isCapReached: (offer: Offer, timezone: string, atMs: number) => boolean;
  /** Whether the same visitor took the same offer by the same partner less than `duplicate_click_seconds` ago (G145). */
  readonly isDuplicate: (offer: Offer, taker: Taker) => boolean;
  /** A visitor was sent on: what the two questions above are about. */
  readonly taken: (offer: Offer, timezone: string, taker: Taker) => void;
};

export type Taker = {
  readonly affiliateId: number;
  readonly visitor: number;
  readonly atMs: number;
};

/** Clicks of an offer in one period of its click cap, by whoever counts them over all processes. */
export type ClickTotal = {
  readonly offerId: number;
  readonly period: CapPeriod;
  readonly bucket: number;
  readonly clicks: number;
};

type Tally = { bucket: number; clicks: number };

/**
 * The state of one process: exact for the clicks that it has answered itself since its start. What others have answered
 * comes by {@link setReachedCaps} and {@link noteTotal} and is as late as they are. Invariant: a tally is never lower than
 * the clicks counted here and than any total told for its bucket.
 */
export class LocalClickState implements ClickState {
  readonly #tallies = new Map<number, Partial<Record<CapPeriod, Tally>>>();
  #reached: ReadonlySet<number> = new Set();
  /** When a visitor last took an offer, oldest first: `<offer>-<partner>-<visitor>`. */
  readonly #lastTaken = new Map<string, number>();
  readonly #visitorsMax: number;

  /** Beyond `visitorsMax` the visitor whose click is longest ago is forgotten; one takes about 120 bytes. */
  constructor(visitorsMax = VISITORS_REMEMBERED_MAX) {
    this.#visitorsMax = visitorsMax;
  }

  readonly isCapReached = (offer: Offer, timezone: string, atMs: number): boolean => {
    if (this.#reached.has(offer.id)) return true;
    const limits = offer.caps.clicks;
    if (limits === undefined) return false;
    return CAP_PERIODS.some((period) => {
      const limit = limits[period];
      return (
        limit !== undefined &&
        this.#clicksIn(offer.id, period, capBucket(period, timezone, atMs)) >= limit
      );
    });
  };

  readonly isDuplicate = (offer: Offer, taker: Taker): boolean => {
    if (offer.duplicate_click_seconds === 0) return false;
    const lastMs = this.#lastTaken.get(takerKey(offer.id, taker));
    return lastMs !== undefined && taker.atMs - lastMs < offer.duplicate_click_seconds * 1_000;
  };

  readonly taken = (offer: Offer, timezone: string, taker: Taker): void => {
    if (offer.duplicate_click_seconds > 0) this.#remember(takerKey(offer.id, taker), taker.atMs);
    const limits = offer.caps.clicks;
    if (limits === undefined) return;
    for (const period of CAP_PERIODS) {
      if (limits[period] === undefined) continue;
      this.#tallyOf(offer.id, period, capBucket(period, timezone, taker.atMs)).clicks += 1;
    }
  };

  /** Offers of which any cap is reached, as counted outside of this process; replaces what was set before. */
  setReachedCaps(offerIds: Iterable<number>): void {
    this.#reached = new Set(offerIds);
  }

  /** A total over all processes. It may not yet hold our newest clicks, and so never lowers a tally. */
  noteTotal({ offerId, period, bucket, clicks }: ClickTotal): void {
    const known = this.#tallies.get(offerId)?.[period];
    if (known !== undefined && known.bucket > bucket) return;
    const tally = this.#tallyOf(offerId, period, bucket);
    tally.clicks = Math.max(tally.clicks, clicks);
  }

  /** Another process sent this visitor on. */
  noteTaken(offerId: number, taker: Taker): void {
    const key = takerKey(offerId, taker);
    if ((this.#lastTaken.get(key) ?? 0) < taker.atMs) this.#remember(key, taker.atMs);
  }

  #clicksIn(offerId: number, period: CapPeriod, bucket: number): number {
    const tally = this.#tallies.get(offerId)?.[period];
    return tally?.bucket === bucket ? tally.clicks : 0;
  }

  #tallyOf(offerId: number, period: CapPeriod, bucket: number): Tally {
    let tallies = this.#tallies.get(offerId);
    if (tallies === undefined) {
      tallies = {};
      this.#tallies.set(offerId, tallies);
    }
    const known = tallies[period];
    if (known?.bucket === bucket) return known;
    const fresh = { bucket, clicks: 0 };
    tallies[period] = fresh;
    return fresh;
  }

  #remember(key: string, atMs: number): void {
    this.#lastTaken.delete(key);
    this.#lastTaken.set(key, atMs);
    if (this.#lastTaken.size <= this.#visitorsMax) return;
    for (const oldest of this.#lastTaken.keys()) {
      this.#lastTaken.delete(oldest);
      return;
    }
  }
}

/**
 * Which period of this kind an instant lies in: a number that only grows, and is compared for equality. In "hourly", the
 * hour that a wall clock shows twice in autumn is one.
 */
export function capBucket(period: CapPeriod, timezone: string, atMs: number): number {
  return period === "total" ? 0 : bucketsAt(timezone, atMs)[period];
}

type Buckets = { readonly minute: number } & Readonly<Record<Exclude<CapPeriod, "total">, number>>;

/** The newest by time zone, of which there are a few hundred. Clocks change on full minutes. */
const newestBuckets = new Map<string, Buckets>();

function bucketsAt(timezone: string, atMs: number): Buckets {
  const minute = Math.floor(atMs / MINUTE_MS);
  const newest = newestBuckets.get(timezone);
  if (newest?.minute === minute) return newest;
  const zone = zoneOf(timezone);
  const localMs = zone === undefined ? atMs : zone.localMsAt(atMs);
  const day = Math.floor(localMs / DAY_MS);
  const { year, month } = yearMonthOf(day);
  const buckets = {
    minute,
    hourly: Math.floor(localMs / HOUR_MS),
    daily: day,
    weekly: mondayOf(day),
    monthly: year * 12 + month,
  };
  newestBuckets.set(timezone, buckets);
  return buckets;
}

function takerKey(offerId: number, taker: Taker): string {
  return `${offerId}-${taker.affiliateId}-${taker.visitor}`;
}

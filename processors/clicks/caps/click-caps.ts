import { capBucket, capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import { capName, capOwnersOf } from "../../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type CapPeriod, type Offer } from "../../../schemas/catalog/records.ts";
import type { ClickTotal } from "../../../schemas/events/click-notice.ts";
import type { Lanes } from "../../../schemas/events/lanes.ts";
import type { Batch } from "../rows/batch.ts";
import { readLine, wasTaken } from "../rows/read-line.ts";
import { ClickMoney } from "./click-money.ts";

/** A click cap, and the offers of this lane whose clicks count against it. */
export type CountedCap = {
  readonly name: string;
  readonly period: CapPeriod;
  readonly timezone: string;
  /** Offers of this lane only: the cap of a group or an advertiser may have offers in other lanes. */
  readonly offers: ReadonlyMap<number, Offer>;
  readonly limit: number;
};

/**
 * Clicks in the period of the writer's clock and in the next one. Producers' clocks differ, so they reach midnight one after another.
 * Clicks from a clock that is further ahead fall in later periods: they are left out here, and counted from the table when such a
 * period begins.
 */
type Tally = {
  cap: CountedCap;
  present: { readonly bucket: number; clicks: number };
  next: { readonly bucket: number; clicks: number };
  /** Clicks after the next period were left out. */
  lacksLaterClicks: boolean;
  /** Whether the stored clicks were counted. From then on each accepted click is counted; before, the tally is unknown. */
  isLoaded: boolean;
  reported: { readonly bucket: number; readonly clicks: number };
};

/** Stored clicks of an offer in one period (bucket) of the cap. */
export type StoredClicks = {
  readonly offerId: number;
  readonly bucket: number;
  readonly clicks: number;
};

const NEVER = { bucket: Number.NEGATIVE_INFINITY, clicks: 0 };
const LINE_FEED = "\n";

/**
 * Counts the clicks of one lane's offers against click caps, in the order of the stream. A total is the clicks in the table plus the
 * accepted clicks that are not there yet. Both are read at one moment at which nothing is being inserted ({@link load}); from then on
 * each accepted click adds to the total.
 */
export class ClickCaps {
  readonly #lane: number;
  /** What the clicks cost, for caps of payout and revenue. */
  readonly money = new ClickMoney();
  #revision = -1;
  /** Number of lanes among which the offers were divided when the totals began; 0 before the first. */
  lanes = 0;
  #tallies = new Map<string, Tally>();
  #byOffer = new Map<number, Tally[]>();
  /** A limit was just reached, which must be reported at once. */
  hasReached = false;

  constructor(lane: number) {
    this.#lane = lane;
  }

  get size(): number {
    return this.#tallies.size;
  }

  /** Takes over the caps of the catalog. Caps whose offers and time zone are unchanged keep their counts. */
  follow(catalog: Catalog, lanes: Lanes): void {
    if (catalog.revision === this.#revision && lanes.count === this.lanes) return;
    this.#revision = catalog.revision;
    this.lanes = lanes.count;
    const tallies = new Map<string, Tally>();
    const byOffer = new Map<number, Tally[]>();
    for (const cap of clickCapsOf(catalog, lanes, this.#lane)) {
      const known = this.#tallies.get(cap.name);
      const tally =
        known !== undefined && countsSameClicks(known.cap, cap)
          ? known
          : {
              cap,
              present: NEVER,
              next: NEVER,
              lacksLaterClicks: false,
              isLoaded: false,
              reported: NEVER,
            };
      tally.cap = cap;
      tallies.set(cap.name, tally);
      for (const id of cap.offers.keys()) byOffer.set(id, [...(byOffer.get(id) ?? []), tally]);
    }
    this.#tallies = tallies;
    this.#byOffer = byOffer;
    this.money.follow(catalog, lanes, this.#lane);
  }

  /** Caps whose clicks must still be counted in the table. */
  get unloaded(): CountedCap[] {
    return [...this.#tallies.values()].flatMap(({ cap, isLoaded }) => (isLoaded ? [] : [cap]));
  }

  /** The table lost clicks: all caps must be counted again. */
  unload(): void {
    for (const tally of this.#tallies.values()) tally.isLoaded = false;
    this.money.unload();
  }

  /**
   * Sets the stored clicks by name of the cap, as read at `nowMs`. `batches` are the accepted batches, including stored ones. Nothing
   * may have been inserted between the query and this call.
   */
  load(
    stored: ReadonlyMap<string, readonly StoredClicks[]>,
    { batches, nowMs }: { readonly batches: readonly Batch[]; readonly nowMs: number },
  ): void {
    const fresh = new Set<Tally>();
    for (const [name, rows] of stored) {
      const tally = this.#tallies.get(name);
      if (tally === undefined || tally.isLoaded) continue;
      const { period, timezone } = tally.cap;
      tally.present = { bucket: capBucket(period, timezone, nowMs), clicks: 0 };
      tally.next = { bucket: nextBucket(tally.cap, nowMs), clicks: 0 };
      Object.assign(tally, { lacksLaterClicks: false, isLoaded: true, reported: NEVER });
      for (const { offerId, bucket, clicks } of rows) {
        if (tally.cap.offers.has(offerId)) add(tally, bucket, clicks);
      }
      fresh.add(tally);
    }
    if (fresh.size > 0) this.#countWaiting(batches, fresh);
  }

  /** Counts an accepted click. `line` is its record as latin1, without earnings unless the click is unique. */
  countClick(offerId: number, ts: number, line: string): void {
    this.money.count(offerId, ts, line);
    const tallies = this.#byOffer.get(offerId);
    if (tallies === undefined || !wasTaken(line)) return;
    for (const tally of tallies) {
      if (tally.isLoaded) this.#count(tally, ts);
    }
  }

  /**
   * Totals to report for the period of `nowMs`: those that reached their limit since the last report, with `minor` also the other changed
   * ones, with `whole` all. Tallies that cannot follow the clock into its period become {@link unloaded}.
   */
  totalsToReport(
    nowMs: number,
    { minor, whole }: { minor: boolean; whole: boolean },
  ): ClickTotal[] {
    this.hasReached = false;
    const news: ClickTotal[] = [];
    for (const tally of this.#tallies.values()) {
      const { cap, reported, isLoaded } = tally;
      if (!isLoaded || !advanceTo(tally, nowMs)) continue;
      const { bucket, clicks } = tally.present;
      if (clicks === 0) continue;
      const reportedClicks = reported.bucket === bucket ? reported.clicks : 0;
      const isNew = clicks !== reportedClicks;
      const isReached = clicks >= cap.limit && reportedClicks < cap.limit;
      if (!whole && !(isNew && (minor || isReached))) continue;
      tally.reported = { bucket, clicks };
      news.push({ cap: cap.name, bucket, clicks });
    }
    return news;
  }

  #countWaiting(batches: readonly Batch[], tallies: ReadonlySet<Tally>): void {
    for (const batch of batches) {
      for (const segment of batch.segments) {
        if (segment.isStored) continue;
        for (const line of segment.bytes.toString("latin1").split(LINE_FEED)) {
          const head = readLine(line);
          if (head === undefined || !wasTaken(line)) continue;
          for (const tally of this.#byOffer.get(head.offerId) ?? []) {
            if (tallies.has(tally)) this.#count(tally, head.ts);
          }
        }
      }
    }
  }

  #count(tally: Tally, ts: number): void {
    const { cap } = tally;
    const clicks = add(tally, capBucket(cap.period, cap.timezone, ts), 1);
    if (clicks === cap.limit) this.hasReached = true;
  }
}

function clickCapsOf(catalog: Catalog, lanes: Lanes, lane: number): Iterable<CountedCap> {
  const caps = new Map<string, CountedCap & { readonly offers: Map<number, Offer> }>();
  for (const offer of catalog.offers.values()) {
    if (lanes.ofOffer(offer.id) !== lane) continue;
    for (const owner of capOwnersOf(catalog, offer)) {
      const limits = owner.caps.clicks;
      if (limits === undefined) continue;
      const timezone = catalog.workspaces.get(offer.workspace_id)?.timezone ?? "UTC";
      for (const period of CAP_PERIODS) {
        const limit = limits[period];
        if (limit === undefined) continue;
        const name = capName(owner.name, "clicks", period, offer.currency);
        const known = caps.get(name);
        if (known !== undefined) known.offers.set(offer.id, offer);
        else
          caps.set(name, { name, period, timezone, limit, offers: new Map([[offer.id, offer]]) });
      }
    }
  }
  return caps.values();
}

function countsSameClicks(known: CountedCap, cap: CountedCap): boolean {
  if (known.timezone !== cap.timezone || known.offers.size !== cap.offers.size) return false;
  for (const id of cap.offers.keys()) if (!known.offers.has(id)) return false;
  return true;
}

/** Returns the clicks of the bucket; 0 for a bucket that is not counted. */
function add(tally: Tally, bucket: number, clicks: number): number {
  const { present, next } = tally;
  if (bucket === present.bucket) return (present.clicks += clicks);
  if (bucket === next.bucket) return (next.clicks += clicks);
  if (bucket > next.bucket) tally.lacksLaterClicks = true;
  return 0;
}

/**
 * Moves the tally to the period of `nowMs`. Returns false, and unloads it, if clicks of that period were not counted: after the clock went
 * back, or if later clicks were left out.
 */
function advanceTo(tally: Tally, nowMs: number): boolean {
  const { cap, present, next, lacksLaterClicks } = tally;
  const bucket = capBucket(cap.period, cap.timezone, nowMs);
  if (bucket === present.bucket) return true;
  if (bucket < present.bucket || lacksLaterClicks) {
    tally.isLoaded = false;
    return false;
  }
  tally.present = bucket === next.bucket ? next : { bucket, clicks: 0 };
  tally.next = { bucket: nextBucket(cap, nowMs), clicks: 0 };
  return true;
}

/** Infinite for "total", which has a single period. */
function nextBucket({ period, timezone }: CountedCap, nowMs: number): number {
  if (period === "total") return Number.POSITIVE_INFINITY;
  return capBucket(period, timezone, capBucketRange(period, timezone, nowMs).toMs);
}

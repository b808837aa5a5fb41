import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { capName, capOwnersOf } from "../../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type CapPeriod, type Offer } from "../../../schemas/catalog/records.ts";
import type { Lanes } from "../../../schemas/events/lanes.ts";
import type { Amount } from "../../../schemas/money/amount.ts";
import type { Batch } from "../rows/batch.ts";
import { type Earnings, readEarnings, readLine } from "../rows/read-line.ts";

const KINDS = ["payout", "revenue"] as const;
const LINE_FEED = "\n";

/** An offer paid or billed by click, in one period of the money caps that it counts against. */
export type CountedOffer = {
  readonly offer: Offer;
  readonly period: CapPeriod;
  readonly timezone: string;
  readonly caps: readonly { readonly name: string; readonly kind: (typeof KINDS)[number] }[];
};

/** The clicks of one period (bucket). Another period begins with the stored clicks again. */
type Tally = {
  counted: CountedOffer;
  bucket: number;
  payout: Amount;
  revenue: Amount;
  isLoaded: boolean;
  isNoted: boolean;
};

/** What the clicks of an offer have cost so far in the period of a cap that contains `atMs`. */
export type CapMoney = {
  readonly cap: string;
  readonly offerId: number;
  readonly period: CapPeriod;
  readonly timezone: string;
  readonly atMs: number;
  readonly amount: Amount;
};

/** Stored money of the clicks of an offer in one period, in one currency. */
export type StoredMoney = Earnings & { readonly offerId: number };

/**
 * Adds up what unique clicks cost, for caps of payout and revenue (G232): by offer, because each offer has one lane. A total is what the table
 * has plus the accepted clicks that are not there yet, as for click caps.
 */
export class ClickMoney {
  #tallies = new Map<string, Tally>();
  #byOffer = new Map<number, Tally[]>();

  /** Takes over the caps of the catalog. An offer whose currency and time zone are unchanged keeps its totals. */
  follow(catalog: Catalog, lanes: Lanes, lane: number): void {
    const tallies = new Map<string, Tally>();
    const byOffer = new Map<number, Tally[]>();
    for (const offer of catalog.offers.values()) {
      const isByClick = offer.payout_type === "cpc" || offer.revenue_type === "rpc";
      if (!isByClick || lanes.ofOffer(offer.id) !== lane) continue;
      for (const counted of countedPeriods(catalog, offer)) {
        const key = `${offer.id} ${counted.period}`;
        const known = this.#tallies.get(key);
        const tally =
          known !== undefined && isSame(known.counted, counted) ? known : begin(counted);
        // A new cap has to be noted, too.
        tally.isNoted &&= tally.counted.caps.length === counted.caps.length;
        tally.counted = counted;
        tallies.set(key, tally);
        byOffer.set(offer.id, [...(byOffer.get(offer.id) ?? []), tally]);
      }
    }
    this.#tallies = tallies;
    this.#byOffer = byOffer;
  }

  /** Offers whose stored clicks must be read for the period of `nowMs`. */
  unloaded(nowMs: number): CountedOffer[] {
    const unloaded: CountedOffer[] = [];
    for (const tally of this.#tallies.values()) {
      if (!isOfNow(tally, nowMs)) unloaded.push(tally.counted);
    }
    return unloaded;
  }

  /** The table lost clicks: all offers must be read again. */
  unload(): void {
    for (const tally of this.#tallies.values()) tally.isLoaded = false;
  }

  /**
   * Sets what the clicks of these offers cost in the period of `nowMs`. `batches` are the accepted batches, including stored ones. Nothing may
   * have been inserted between the query and this call.
   */
  load(
    counted: readonly CountedOffer[],
    stored: readonly StoredMoney[],
    { batches, nowMs }: { readonly batches: readonly Batch[]; readonly nowMs: number },
  ): void {
    const fresh = new Set<Tally>();
    const byOffer = new Map<number, StoredMoney[]>();
    for (const money of stored)
      byOffer.set(money.offerId, [...(byOffer.get(money.offerId) ?? []), money]);
    for (const { offer, period, timezone } of counted) {
      const tally = this.#tallies.get(`${offer.id} ${period}`);
      if (tally === undefined) continue;
      const bucket = capBucket(period, timezone, nowMs);
      Object.assign(tally, { bucket, payout: 0n, revenue: 0n, isLoaded: true, isNoted: false });
      for (const money of byOffer.get(offer.id) ?? []) add(tally, money);
      fresh.add(tally);
    }
    if (fresh.size > 0) this.#countWaiting(batches, fresh);
  }

  /** Counts an accepted click. `line` is its row as latin1, without earnings unless the click is unique. */
  count(offerId: number, ts: number, line: string): void {
    const tallies = this.#byOffer.get(offerId);
    if (tallies === undefined) return;
    const earnings = readEarnings(line);
    if (earnings === undefined) return;
    for (const tally of tallies) if (tally.isLoaded) addAt(tally, ts, earnings);
  }

  /** What has changed since it was returned last, in the period of `nowMs`; with `whole` everything. */
  totals(nowMs: number, whole: boolean): CapMoney[] {
    const totals: CapMoney[] = [];
    for (const tally of this.#tallies.values()) {
      if ((tally.isNoted && !whole) || !isOfNow(tally, nowMs)) continue;
      tally.isNoted = true;
      const { offer, period, timezone, caps } = tally.counted;
      for (const { name: cap, kind } of caps) {
        const amount = tally[kind];
        if (amount > 0n)
          totals.push({ cap, offerId: offer.id, period, timezone, atMs: nowMs, amount });
      }
    }
    return totals;
  }

  #countWaiting(batches: readonly Batch[], fresh: ReadonlySet<Tally>): void {
    for (const batch of batches) {
      for (const segment of batch.segments) {
        if (segment.isStored) continue;
        for (const line of segment.bytes.toString("latin1").split(LINE_FEED)) {
          const head = readLine(line);
          const earnings = head === undefined ? undefined : readEarnings(line);
          if (head === undefined || earnings === undefined) continue;
          for (const tally of this.#byOffer.get(head.offerId) ?? [])
            if (fresh.has(tally)) addAt(tally, head.ts, earnings);
        }
      }
    }
  }
}

function* countedPeriods(catalog: Catalog, offer: Offer): Generator<CountedOffer> {
  const timezone = catalog.workspaces.get(offer.workspace_id)?.timezone ?? "UTC";
  const owners = capOwnersOf(catalog, offer);
  for (const period of CAP_PERIODS) {
    const caps = owners.flatMap((owner) =>
      KINDS.filter((kind) => owner.caps[kind]?.[period] !== undefined).map((kind) => ({
        name: capName(owner.name, kind, period, offer.currency),
        kind,
      })),
    );
    if (caps.length > 0) yield { offer, period, timezone, caps };
  }
}

function begin(counted: CountedOffer): Tally {
  return { counted, bucket: 0, payout: 0n, revenue: 0n, isLoaded: false, isNoted: false };
}

function isSame(known: CountedOffer, counted: CountedOffer): boolean {
  return known.timezone === counted.timezone && known.offer.currency === counted.offer.currency;
}

function isOfNow({ counted, bucket, isLoaded }: Tally, nowMs: number): boolean {
  return isLoaded && capBucket(counted.period, counted.timezone, nowMs) === bucket;
}

function addAt(tally: Tally, ts: number, earnings: Earnings): void {
  const { period, timezone } = tally.counted;
  if (capBucket(period, timezone, ts) === tally.bucket) add(tally, earnings);
}

/** Amounts of different currencies are never added. */
function add(tally: Tally, { currency, payout, revenue }: Earnings): void {
  if (currency !== tally.counted.offer.currency) return;
  tally.payout += payout;
  tally.revenue += revenue;
  tally.isNoted = false;
}

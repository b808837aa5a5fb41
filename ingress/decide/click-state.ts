import { capBucket } from "../../schemas/catalog/cap-bucket.ts";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { Offer } from "../../schemas/catalog/records.ts";
import type { CapReached, ClickTaken, ClickTotal } from "../../schemas/events/click-notice.ts";
import { DEFAULT_LANE_COUNT } from "../../schemas/events/lanes.ts";
import { type CapPlan, capPlanOf, type WatchedCap } from "./cap-plan.ts";
import { ClickTally, PERIODS_KEPT } from "./click-tally.ts";
import { RecentMap } from "./recent-map.ts";

/** What earlier clicks mean for the next one. */
export type ClickState = {
  /** Whether a cap of the offer, of its advertiser or of one of its groups is reached, in periods of the time zone (G39, G40). */
  readonly capCondition: (offer: Offer, timezone: string, atMs: number) => CapCondition;
  /** Whether the visitor was redirected to this offer for this partner less than `duplicate_click_seconds` ago (G145). */
  readonly isDuplicate: (offer: Offer, visit: OfferVisit) => boolean;
  /** Records that a visitor was redirected, for the two questions above. */
  readonly taken: (offer: Offer, timezone: string, visit: TakenVisit) => void;
};

/** A limit that was reached in a period, and the round in which that was reported last. */
type ReachedLimit = Omit<CapReached, "cap"> & { readonly round: number };

/** A reached cap is free again after this many rounds without it: one round may be lost, or another process may know an older catalog. */
const ROUNDS_WITHOUT = 3;

/** `cap_over`: every reached cap only alerts. */
export type CapCondition = "" | "cap" | "cap_over";

/** A click of a visitor on an offer. */
export type OfferVisit = {
  readonly affiliateId: number;
  readonly visitor: number;
  readonly atMs: number;
};

/** With `isUnseen` the click counts for caps only: it must not make the visit that follows it a duplicate (G240). */
type TakenVisit = OfferVisit & { readonly isUnseen: boolean };

export type ClickStateLimits = {
  /** Beyond it, the visitor with the oldest click is forgotten. One visitor takes about 160 bytes. */
  readonly visitorsMax: number;
  /** Clicks not yet published to the other processes. Beyond it, the oldest half is forgotten. */
  readonly unpublishedMax: number;
  /** Tallies, and counters that others have reported. */
  readonly capsMax: number;
};

const LIMITS: ClickStateLimits = { visitorsMax: 200_000, unpublishedMax: 10_000, capsMax: 200_000 };

/** The caps of an offer, the click caps with their tallies. */
type Watch = Omit<CapPlan, "clicks"> & {
  readonly clicks: readonly (CapPlan["clicks"][number] & { readonly tally: ClickTally })[];
};

/**
 * What one process knows about earlier clicks. It is exact for the clicks that this process answered since its start. The `note…` methods
 * add what other processes report, with a delay (click-notices/). A cap never counts as reached before it is.
 */
export class LocalClickState implements ClickState {
  readonly #catalog: Catalog;
  readonly #limits: ClickStateLimits;
  /** By offer, made at first use after a change of the catalog; null for an offer without caps. */
  readonly #watches = new Map<number, Watch | null>();
  #watchedRevision = -1;
  #generation = 0;
  readonly #tallies = new Map<string, ClickTally>();
  /** By the name of the counter: each limit it has reached and in which period, the latest report first. */
  readonly #reached: RecentMap<readonly ReachedLimit[]>;
  /** When a visitor was last redirected to an offer, by `<offer>-<partner>-<visitor>`. */
  readonly #lastTaken: RecentMap<number>;
  /** How many whole rounds of reached caps were heard. */
  #round = 0;
  #unpublished: ClickTaken[] = [];
  /** Clicks that were never published to the other processes, because NATS was down too long. */
  unpublishedLost = 0;
  /** Rises with every change of what {@link keep} returns. */
  changes = 0;

  constructor(catalog: Catalog, limits: Partial<ClickStateLimits> = {}) {
    this.#catalog = catalog;
    this.#limits = { ...LIMITS, ...limits };
    this.#reached = new RecentMap(this.#limits.capsMax);
    this.#lastTaken = new RecentMap(this.#limits.visitorsMax);
  }

  readonly capCondition = (offer: Offer, timezone: string, atMs: number): CapCondition => {
    const watch = this.#watchOf(offer);
    if (watch === null) return "";
    let condition: CapCondition = "";
    for (const { period, clicksMax, isAlert, tally } of watch.clicks) {
      if (tally.clicksIn(capBucket(period, timezone, atMs)) < clicksMax) continue;
      if (!isAlert) return "cap";
      condition = "cap_over";
    }
    for (const cap of watch.counters) {
      if (!this.#isReached(cap, timezone, atMs)) continue;
      if (!cap.isAlert) return "cap";
      condition = "cap_over";
    }
    return condition;
  };

  readonly isDuplicate = (offer: Offer, visit: OfferVisit): boolean => {
    if (offer.duplicate_click_seconds === 0) return false;
    const key = visitKey(offer.id, visit.affiliateId, visit.visitor);
    const lastMs = this.#lastTaken.get(key);
    if (lastMs === undefined) return false;
    // A last click in the future came from a clock that was ahead. If it is far ahead, ignore it.
    if (Math.abs(visit.atMs - lastMs) >= offer.duplicate_click_seconds * 1_000) return false;
    // If it is a little ahead, count it as now, so that no visitor is turned away for longer than the offer's setting.
    if (lastMs > visit.atMs) this.#lastTaken.set(key, visit.atMs);
    return true;
  };

  readonly taken = (offer: Offer, timezone: string, visit: TakenVisit): void => {
    if (offer.duplicate_click_seconds > 0 && !visit.isUnseen) {
      const { affiliateId, visitor, atMs } = visit;
      this.#lastTaken.set(visitKey(offer.id, affiliateId, visitor), atMs);
      this.#publishLater([offer.id, affiliateId, visitor, atMs]);
    }
    const watch = this.#watchOf(offer);
    if (watch === null) return;
    this.changes += watch.clicks.length;
    for (const { period, tally } of watch.clicks) {
      tally.count(capBucket(period, timezone, visit.atMs));
    }
  };

  /**
   * A limit that the conversion processors report as reached. It applies until its period is over, the catalog has another limit, or
   * several whole rounds lack it.
   */
  noteReached({ cap, bucket, limit }: CapReached): void {
    const others = (this.#reached.get(cap) ?? []).filter((known) => known.bucket !== bucket);
    const reached = { bucket, limit, round: this.#round };
    this.#reached.set(cap, [reached, ...others].slice(0, PERIODS_KEPT));
    this.changes += 1;
  }

  /** All reached caps have been reported. Without reports, as during an outage, caps stay reached. */
  noteRound(): void {
    this.#round += 1;
    const oldest = this.#round - ROUNDS_WITHOUT;
    const freed = [...this.#reached.entries()].filter(([, limits]) =>
      limits.every(({ round }) => round < oldest),
    );
    for (const [cap] of freed) this.#reached.delete(cap);
    this.changes += freed.length;
  }

  /** A total from the writer of a lane. It may lack our newest clicks, so it never lowers a tally. */
  noteTotal(
    lane: number,
    { cap, bucket, clicks }: ClickTotal,
    lanes: number = DEFAULT_LANE_COUNT,
  ): void {
    const isNew = !this.#tallies.has(cap);
    if (isNew && this.#tallies.size >= this.#limits.capsMax) return;
    this.#tallyOf(cap).note({ lane, lanes }, bucket, clicks);
    this.changes += 1;
  }

  /** The state to save for the next process: totals of click caps, and caps that are reached; at most `entriesMax` of each. */
  keep(entriesMax: number): { readonly totals: ClickTotal[]; readonly reached: CapReached[] } {
    const totals: ClickTotal[] = [];
    for (const [cap, tally] of this.#tallies) {
      for (const { bucket, clicks } of tally.periods) {
        if (clicks > 0 && totals.length < entriesMax) totals.push({ cap, bucket, clicks });
      }
      if (totals.length === entriesMax) break;
    }
    const reached: CapReached[] = [];
    for (const [cap, limits] of this.#reached.entries()) {
      for (const { bucket, limit } of limits)
        if (reached.length < entriesMax) reached.push({ cap, bucket, limit });
      if (reached.length === entriesMax) break;
    }
    return { totals, reached };
  }

  /** Restores what the process before this one saved. Call it before the first click. */
  recall(kept: {
    readonly totals: readonly ClickTotal[];
    readonly reached: readonly CapReached[];
  }): void {
    for (const { cap, bucket, clicks } of kept.totals) this.#tallyOf(cap).recall(bucket, clicks);
    for (const reached of kept.reached) this.noteReached(reached);
  }

  /** Another process redirected this visitor. */
  noteTaken([offerId, affiliateId, visitor, atMs]: ClickTaken): void {
    const key = visitKey(offerId, affiliateId, visitor);
    if ((this.#lastTaken.get(key) ?? 0) < atMs) this.#lastTaken.set(key, atMs);
  }

  /** Clicks of this process to publish to the others. Each is returned once. */
  takeUnpublished(): readonly ClickTaken[] {
    const unpublished = this.#unpublished;
    if (unpublished.length > 0) this.#unpublished = [];
    return unpublished;
  }

  #isReached({ name, period, limit }: WatchedCap, timezone: string, atMs: number): boolean {
    const limits = this.#reached.get(name);
    if (limits === undefined) return false;
    const bucket = capBucket(period, timezone, atMs);
    return limits.some((reached) => reached.bucket === bucket && reached.limit === limit);
  }

  #watchOf(offer: Offer): Watch | null {
    if (this.#watchedRevision !== this.#catalog.revision) {
      this.#watchedRevision = this.#catalog.revision;
      // Postgres was restored, and its counters with it: caps that are still reached are published again within seconds.
      if (this.#generation !== this.#catalog.generation) this.#reached.clear();
      this.#generation = this.#catalog.generation;
      this.#watches.clear();
      // Removed caps leave their tallies behind. The writers report the totals of the others again within seconds.
      if (this.#tallies.size > this.#limits.capsMax) this.#tallies.clear();
    }
    const known = this.#watches.get(offer.id);
    if (known !== undefined) return known;
    const plan = capPlanOf(this.#catalog, offer);
    const watch = plan === undefined ? null : this.#watchFor(plan);
    this.#watches.set(offer.id, watch);
    return watch;
  }

  #watchFor({ clicks, counters }: CapPlan): Watch {
    const tallied = clicks.map((cap) => ({ ...cap, tally: this.#tallyOf(cap.name) }));
    return { counters, clicks: tallied };
  }

  #tallyOf(cap: string): ClickTally {
    let tally = this.#tallies.get(cap);
    if (tally === undefined) {
      tally = new ClickTally();
      this.#tallies.set(cap, tally);
    }
    return tally;
  }

  #publishLater(taken: ClickTaken): void {
    this.#unpublished.push(taken);
    if (this.#unpublished.length <= this.#limits.unpublishedMax) return;
    const lost = this.#unpublished.length >> 1;
    this.#unpublished = this.#unpublished.slice(lost);
    this.unpublishedLost += lost;
  }
}

function visitKey(offerId: number, affiliateId: number, visitor: number): string {
  return `${offerId}-${affiliateId}-${visitor}`;
}

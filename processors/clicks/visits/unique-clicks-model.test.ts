import fc from "fast-check";
import { expect, test } from "vitest";
import { type ForgottenVisits, UniqueClicks } from "./unique-clicks.ts";
import type { Visit } from "./visit-print.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 1);
const ENTRIES_MAX = 400;
const NEVER_MS = Number.NEGATIVE_INFINITY;

/** `isSure` is false for an entry that may have been dropped, because it has expired or shares the time of a cut. */
type Entry = { readonly offerId: number; readonly atMs: number; isSure: boolean };
/** What a click does: whether it is unique, and to which entry it is written. */
type Outcome = { readonly isUnique: boolean; readonly key: string };

/** The rules of {@link UniqueClicks} over a plain Map, beside the real one. */
class Pair {
  readonly real: UniqueClicks;
  readonly entries = new Map<string, Entry>();
  readonly #reports: ForgottenVisits[] = [];
  #latestMs = 0;
  /** Distinguishes the times of all clicks, so that ties are rare. */
  #ticks = 0;
  nowMs = START_MS;
  /** What differed. */
  readonly wrong: string[] = [];

  constructor(bucketEntriesMax: number) {
    this.real = new UniqueClicks({
      entriesMax: ENTRIES_MAX,
      retentionMs: DAY_MS,
      bucketEntriesMax,
      onForgotten: (of) => this.#reports.push(of),
    });
  }

  get #presentMs(): number {
    return Math.min(this.#latestMs, this.real.clocks.ownMs);
  }

  get #windowBeginMs(): number {
    return this.#presentMs - this.real.retentionMs;
  }

  /** `newestAheadMs` is how far a producer's clock is ahead of the own one. */
  setClocks(newestAheadMs: number): void {
    this.#ticks += 1;
    const ownMs = this.nowMs + this.#ticks;
    this.real.clocks = { ownMs, newestMs: ownMs + newestAheadMs };
    this.#noteExpired();
  }

  take(visit: Visit, agoMs: number, windowMs: number): void {
    const clickMs = this.#clickMs(agoMs);
    const outcomes = this.#variants(visit).map((isKnown) =>
      this.#outcome(visit, { clickMs, windowMs, isKnown }),
    );
    const [outcome] = outcomes;
    // Where an unsure entry would decide, both answers are right.
    if (outcome === undefined || outcomes.some((one) => !isSame(one, outcome))) return;
    const isUnique = this.real.take(visit, clickMs, windowMs);
    this.#check(isUnique === outcome.isUnique, `a click on ${keyOf(visit)}`);
    if (outcome.isUnique) this.#write(outcome.key, visit.offerId, clickMs);
  }

  remember(visit: Visit, agoMs: number): void {
    const clickMs = this.#clickMs(agoMs);
    const known = this.entries.get(keyOf(visit));
    if (known?.isSure === false && known.atMs > clickMs) return;
    this.real.remember(visit, clickMs);
    this.#write(keyOf(visit), visit.offerId, Math.max(clickMs, this.#lastMs(known)));
  }

  setRetention(retentionMs: number): void {
    this.real.retentionMs = retentionMs;
    this.#noteExpired();
  }

  /** Every entry that must be there is, with its exact time. */
  checkAll(): void {
    for (const [key, { atMs, isSure }] of this.entries) {
      const [offerId = 0, affiliateId = 0, visitor = 0] = key.split(".").map(Number);
      if (!isSure || affiliateId < 0 || atMs > this.real.clocks.newestMs) continue;
      const visit = { offerId, affiliateId, visitor };
      const isKnown =
        !this.real.take(visit, atMs, 1) &&
        !this.real.take(visit, atMs + HOUR_MS - 1, HOUR_MS) &&
        !this.real.take(visit, atMs - HOUR_MS + 1, HOUR_MS);
      this.#check(isKnown, `the time of ${key}`);
    }
  }

  #check(isRight: boolean, what: string): void {
    if (!isRight) this.wrong.push(what);
  }

  #clickMs(agoMs: number): number {
    this.#ticks += 1;
    return Math.min(this.nowMs + this.#ticks - agoMs, this.real.clocks.newestMs);
  }

  #lastMs(entry: Entry | undefined): number {
    return entry === undefined ? NEVER_MS : Math.min(entry.atMs, this.real.clocks.newestMs);
  }

  /** Which keys are known, for each combination of the visit's unsure entries that may be there. */
  #variants(visit: Visit): ((key: string) => boolean)[] {
    const keys = [keyOf(visit), secondKeyOf(visit)];
    const unsure = keys.filter((key) => this.entries.get(key)?.isSure === false);
    return [0, 1, 2, 3].map((bits) => (key) => {
      const at = unsure.indexOf(key);
      return at < 0 || ((bits >> at) & 1) === 1;
    });
  }

  #outcome(
    visit: Visit,
    of: { clickMs: number; windowMs: number; isKnown: (key: string) => boolean },
  ): Outcome {
    const last = (key: string): number =>
      of.isKnown(key) ? this.#lastMs(this.entries.get(key)) : NEVER_MS;
    let key = keyOf(visit);
    if (last(key) - of.clickMs >= of.windowMs) {
      key = secondKeyOf(visit);
      if (last(key) - of.clickMs >= of.windowMs) return { isUnique: false, key };
    }
    return { isUnique: Math.abs(of.clickMs - last(key)) >= of.windowMs, key };
  }

  #write(key: string, offerId: number, atMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, atMs);
    this.entries.set(key, { offerId, atMs, isSure: true });
    this.#noteExpired();
    const report = this.#reports.pop();
    if (report !== undefined) this.#cut(report);
    let sure = 0;
    for (const { isSure } of this.entries.values()) if (isSure) sure += 1;
    const { size } = this.real;
    const most = Math.min(this.entries.size, ENTRIES_MAX * (1 + 1 / 64));
    this.#check(size >= sure && size <= most, `${size} visits, of which ${sure} are sure`);
  }

  /** The real one had dropped all expired entries, and then the oldest of the largest offers. */
  #cut(report: ForgottenVisits): void {
    const known = [...this.entries.values()].filter(({ atMs }) => atMs >= this.#windowBeginMs);
    if (known.every(({ isSure }) => isSure)) this.#checkCut(report, known);
    // If the clock went back, visits are in the window again that `real` may have dropped.
    else for (const entry of known) entry.isSure = false;
    for (const [key, { atMs }] of this.entries)
      if (atMs < this.#windowBeginMs) this.entries.delete(key);
  }

  #checkCut(report: ForgottenVisits, known: readonly Entry[]): void {
    this.#check(known.length > ENTRIES_MAX, `forgetting visits with only ${known.length}`);
    const times = new Map<number, number[]>();
    for (const { offerId, atMs } of known) {
      const of = times.get(offerId);
      if (of === undefined) times.set(offerId, [atMs]);
      else of.push(atMs);
    }
    const counts = [...times.values()].map(({ length }) => length);
    const level = levelOf(counts, ENTRIES_MAX * 0.75);
    const visits = counts.reduce((sum, count) => sum + Math.max(0, count - level), 0);
    const begins = new Map(
      [...times].map(([offerId, of]) => [offerId, of.sort((a, b) => b - a)[level - 1] ?? NEVER_MS]),
    );
    const isRight =
      report.visits === visits &&
      report.knownFromMs === begins.get(report.offerId) &&
      times.get(report.offerId)?.length === Math.max(...counts) &&
      this.real.size === known.length - visits;
    this.#check(isRight, `the report ${JSON.stringify(report)}`);
    for (const [key, entry] of this.entries) {
      const beginMs = begins.get(entry.offerId) ?? NEVER_MS;
      if (entry.atMs < beginMs) this.entries.delete(key);
      else if (entry.atMs === beginMs) entry.isSure = false;
    }
  }

  /** From now on it may be gone, also if the clock goes back. */
  #noteExpired(): void {
    for (const entry of this.entries.values())
      if (entry.atMs < this.#windowBeginMs) entry.isSure = false;
  }
}

function keyOf({ offerId, affiliateId, visitor }: Visit): string {
  return `${offerId}.${affiliateId}.${visitor}`;
}

function secondKeyOf(visit: Visit): string {
  return keyOf({ ...visit, affiliateId: ~visit.affiliateId });
}

function isSame(one: Outcome, other: Outcome): boolean {
  return one.isUnique === other.isUnique && (!one.isUnique || one.key === other.key);
}

/** The highest whole number for which the counts, each limited to it, add up to at most `total`. */
function levelOf(counts: readonly number[], total: number): number {
  let level = 0;
  const sumAt = (limit: number): number =>
    counts.reduce((sum, count) => sum + Math.min(count, limit), 0);
  while (sumAt(level + 1) <= total) level += 1;
  return level;
}

const visit = fc.record({
  offerId: fc.constantFrom(4, 4, 4, 8, 12),
  affiliateId: fc.constantFrom(1, 2),
  visitor: fc.oneof(fc.nat(40), fc.constantFrom(2 ** 32, 2 ** 52 - 1)),
});
const windowMs = fc.constantFrom(HOUR_MS, 6 * HOUR_MS, DAY_MS);
/** Negative for a click in the future. */
const agoMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 10_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 30 * HOUR_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: -40 * HOUR_MS, max: 90 * DAY_MS }) },
);
const step = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({ kind: fc.constant("take" as const), visit, agoMs, windowMs }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("remember" as const), visit, agoMs }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      byMs: fc.oneof(
        { weight: 30, arbitrary: fc.integer({ min: 0, max: HOUR_MS }) },
        { weight: 1, arbitrary: fc.integer({ min: -30 * HOUR_MS, max: 30 * DAY_MS }) },
      ),
      newestAheadMs: fc.constantFrom(0, 0, 0, 2_000, 30 * HOUR_MS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("retain" as const),
      hours: fc.constantFrom(24, 48, 24 * 60),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("flood" as const),
      offerId: fc.constantFrom(4, 8),
      visitor: fc.integer({ min: 100, max: 10_000 }),
      visits: fc.nat(300),
    }),
  },
);

test.each([0.02, 96])(
  "any clicks, clocks and windows give the answers of a plain Map (buckets of %d visits, G87)",
  (bucketEntriesMax) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const pair = new Pair(bucketEntriesMax);
        pair.setClocks(0);
        for (const one of steps) {
          if (one.kind === "take") pair.take(one.visit, one.agoMs, one.windowMs);
          else if (one.kind === "remember") pair.remember(one.visit, one.agoMs);
          else if (one.kind === "retain") pair.setRetention(one.hours * HOUR_MS);
          else if (one.kind === "pass") {
            pair.nowMs += one.byMs;
            pair.setClocks(one.newestAheadMs);
          } else {
            for (let visitor = one.visitor; visitor < one.visitor + one.visits; visitor += 1)
              pair.take({ offerId: one.offerId, affiliateId: 1, visitor }, 0, HOUR_MS);
          }
        }
        pair.checkAll();
        expect(pair.wrong).toEqual([]);
      }),
      { numRuns: 10 },
    );
  },
);

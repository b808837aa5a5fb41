import type { VisitTable } from "./visit-table.ts";

/** A pass decides so many bits of the time of a cut. */
const PASS_BITS = 11;
const PASS_VALUES = 2 ** PASS_BITS;

/** Which visits of some classes of offers must go: all before a time, and `ties` of exactly that time. */
type Cuts = {
  /** By class: the place in the other arrays plus one, or 0 for a class that keeps all. */
  readonly places: Uint16Array;
  readonly beforeMs: Float64Array;
  readonly ties: Uint32Array;
};

/** Visits that were forgotten; `offerClass` had the most, and its visits before `knownFromMs` are forgotten. */
export type Forgotten = {
  readonly visits: number;
  readonly offerClass: number;
  readonly knownFromMs: number;
};

/**
 * Forgets the oldest visits of the largest classes until at most `kept` visits are left. It finds the highest number of visits per class
 * for that, and cuts every larger class to it. Smaller ones keep all. Needs no memory for times: each pass over the table counts the
 * visits by 11 more bits of their time.
 */
export function forgetOldest(table: VisitTable, kept: number): Forgotten {
  const counts = [...table.tally.ofClass];
  const level = levelOf(
    counts.filter((count) => count > 0),
    kept,
  );
  const largest = [...counts.keys()]
    .filter((offerClass) => (counts[offerClass] ?? 0) > level)
    .sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
  const drops = largest.map((offerClass) => (counts[offerClass] ?? 0) - level);
  const cuts = findCuts(table, largest, drops);
  table.removeWhere((offerClass, atMs) => isCut(cuts, offerClass, atMs));
  return {
    visits: drops.reduce((sum, visits) => sum + visits, 0),
    offerClass: largest[0] ?? 0,
    knownFromMs: cuts.beforeMs[0] ?? 0,
  };
}

/** The cuts that drop the oldest `drops` visits of these classes. */
function findCuts(table: VisitTable, classes: readonly number[], drops: readonly number[]): Cuts {
  const places = new Uint16Array(table.tally.ofClass.length);
  for (const [place, offerClass] of classes.entries()) places[offerClass] = place + 1;
  const { fromMs, spanMs } = spanOf(table, places);
  const passes = Math.max(1, Math.ceil(Math.log2(spanMs + 1) / PASS_BITS));
  const ties = Uint32Array.from(drops);
  /** The bits of each cut's time that are known. */
  const known = new Float64Array(classes.length);
  for (let pass = passes - 1; pass >= 0; pass -= 1) {
    const unit = PASS_VALUES ** pass;
    const counts = new Uint32Array(classes.length * PASS_VALUES);
    table.forEach((offerClass, atMs) => {
      const place = (places[offerClass] ?? 0) - 1;
      if (place < 0) return;
      const bits = Math.floor((atMs - fromMs) / unit);
      const value = bits - (known[place] ?? 0) * PASS_VALUES;
      if (value < 0 || value >= PASS_VALUES) return;
      const at = place * PASS_VALUES + value;
      counts[at] = (counts[at] ?? 0) + 1;
    });
    for (const place of classes.keys()) {
      const ofPlace = counts.subarray(place * PASS_VALUES, (place + 1) * PASS_VALUES);
      const { value, before } = valueAt(ofPlace, ties[place] ?? 0);
      known[place] = (known[place] ?? 0) * PASS_VALUES + value;
      ties[place] = (ties[place] ?? 0) - before;
    }
  }
  return { places, beforeMs: known.map((bits) => fromMs + bits), ties };
}

/** The value of the entry that has `rank` entries before it, and how many have lower values; the last value if there is none. */
function valueAt(counts: Uint32Array, rank: number): { value: number; before: number } {
  let before = 0;
  for (const [value, count] of counts.entries()) {
    if (before + count > rank) return { value, before };
    before += count;
  }
  return { value: counts.length, before };
}

/** The times of all visits of these classes. */
function spanOf(table: VisitTable, places: Uint16Array): { fromMs: number; spanMs: number } {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  table.forEach((offerClass, atMs) => {
    if (places[offerClass] === 0) return;
    if (atMs < fromMs) fromMs = atMs;
    if (atMs > toMs) toMs = atMs;
  });
  return fromMs <= toMs ? { fromMs, spanMs: toMs - fromMs } : { fromMs: 0, spanMs: 0 };
}

/** Counts the ties down, so call it exactly once for each visit. */
function isCut({ places, beforeMs, ties }: Cuts, offerClass: number, atMs: number): boolean {
  const place = (places[offerClass] ?? 0) - 1;
  if (place < 0) return false;
  const cutMs = beforeMs[place] ?? 0;
  if (atMs !== cutMs) return atMs < cutMs;
  const left = ties[place] ?? 0;
  if (left === 0) return false;
  ties[place] = left - 1;
  return true;
}

/** The highest level for which the counts, each limited to it, add up to at most `total`. */
function levelOf(counts: readonly number[], total: number): number {
  let left = total;
  const rising = counts.toSorted((a, b) => a - b);
  for (const [index, count] of rising.entries()) {
    const level = Math.floor(left / (rising.length - index));
    if (count > level) return level;
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}

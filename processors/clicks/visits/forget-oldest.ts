import type { Span } from "./visit-blocks.ts";
import type { VisitTable } from "./visit-table.ts";

/** A pass over the table decides a digit of each cut's time, which has so many values: 8 KB a class of offers. */
const VALUES = 2_048;

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
 * Forgets the oldest visits of the largest classes until at most `kept` are left. All times must be within `span`. It finds the highest number of
 * visits per class for that, and cuts every larger class to that number. Smaller classes keep all. It needs no memory for times: each pass over the
 * table counts visits by one more digit of their time, from the highest. Three passes are enough for 99 days.
 *
 * It works in steps, which yield how many visits they have looked at. Visits may be added, written again and expire between two steps: then as many
 * more or fewer old visits stay.
 */
export function* forgetOldest(
  table: VisitTable,
  kept: number,
  span: Span,
): Generator<number, Forgotten, void> {
  const counts = [...table.tally.ofClass];
  const level = levelOf(
    counts.filter((count) => count > 0),
    kept,
  );
  const largest = [...counts.keys()]
    .filter((offerClass) => (counts[offerClass] ?? 0) > level)
    .sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
  const drops = largest.map((offerClass) => (counts[offerClass] ?? 0) - level);
  const cuts = yield* findCuts(table, { classes: largest, drops, span });
  let visits = 0;
  yield* table.removeWhere((offerClass, atMs) => {
    const isRemoved = isCut(cuts, offerClass, atMs);
    if (isRemoved) visits += 1;
    return isRemoved;
  });
  return { visits, offerClass: largest[0] ?? 0, knownFromMs: cuts.beforeMs[0] ?? 0 };
}

/** The cuts that drop the oldest `drops` visits of these classes. */
function* findCuts(
  table: VisitTable,
  of: {
    readonly classes: readonly number[];
    readonly drops: readonly number[];
    readonly span: Span;
  },
): Generator<number, Cuts, void> {
  const { classes, drops, span } = of;
  const places = new Uint16Array(table.tally.ofClass.length);
  for (const [place, offerClass] of classes.entries()) places[offerClass] = place + 1;
  const { fromMs, toMs } = span;
  const ties = Uint32Array.from(drops);
  /** The time of each cut, as far as its digits are known. */
  const beforeMs = new Float64Array(classes.length).fill(fromMs);
  const counts = new Uint32Array(classes.length * VALUES);
  let unit = 1;
  while (unit * VALUES <= toMs - fromMs) unit *= VALUES;
  for (; unit >= 1; unit /= VALUES) {
    counts.fill(0);
    yield* table.forEach((offerClass, atMs) => {
      const place = (places[offerClass] ?? 0) - 1;
      if (place < 0) return;
      const sinceMs = atMs - (beforeMs[place] ?? 0);
      if (sinceMs < 0 || sinceMs >= unit * VALUES) return;
      const at = place * VALUES + Math.floor(sinceMs / unit);
      counts[at] = (counts[at] ?? 0) + 1;
    });
    for (const place of classes.keys()) {
      const ofPlace = counts.subarray(place * VALUES, (place + 1) * VALUES);
      const { value, before } = valueAt(ofPlace, ties[place] ?? 0);
      beforeMs[place] = (beforeMs[place] ?? 0) + value * unit;
      ties[place] = (ties[place] ?? 0) - before;
    }
  }
  return { places, beforeMs, ties };
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

import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Segment } from "./batch.ts";
import type { PositionSet, Range } from "./position-set.ts";

/**
 * Most ranges of an intent. An insert with more is split. Rows of one producer at consecutive positions are one range, so this is about the
 * number of producers in an insert.
 */
export const RANGES_MAX = 1_000;

const IntentRange = z.tuple([z.int(), z.int(), z.int(), z.int()]);
/** Positions of one producer that an insert contains: `to` is exclusive. */
export type IntentRange = readonly [producer: number, epoch: number, from: number, to: number];

/**
 * An insert as it is recorded in Postgres before it begins. Invariant: whatever is inserted under `token`, at any time and by whichever
 * writer, goes to this table and month, so that ClickHouse stores at most one block of it.
 */
export const Intent = z.object({
  /** Counts the inserts of a lane; for people who read the record. */
  n: z.int().positive(),
  table: z.enum(["click", "impression"]),
  /** The partition, as 202601. */
  month: z.int(),
  ranges: z.array(IntentRange).max(RANGES_MAX),
  /**
   * Deduplication token. Random, so that no token returns with other rows after Postgres or the table was restored from a backup. A token
   * made from the positions or from `n` would return.
   */
  token: z.string().min(1),
  /** The ClickHouse replica that the insert was sent to; null on a server alone. */
  home: z.string().nullable(),
});
export type Intent = z.infer<typeof Intent>;

/** The intent to insert these segments, which are of one partition. */
export function intentOf(
  segments: readonly Segment[],
  options: {
    readonly after: Intent | undefined;
    readonly table: Intent["table"];
    readonly home: string | null;
  },
): Intent {
  const [first] = segments;
  if (first === undefined) throw new Error("an insert without rows");
  return {
    n: (options.after?.n ?? 0) + 1,
    table: options.table,
    month: first.month,
    ranges: rangesOf(segments).map(([...range]) => range),
    token: randomBytes(16).toString("hex"),
    home: options.home,
  };
}

/** The positions of these segments: ascending for each producer, and consecutive ones joined. */
export function rangesOf(segments: readonly Segment[]): IntentRange[] {
  const sorted = [...segments].sort(
    (a, b) => a.producer - b.producer || a.epoch - b.epoch || a.from - b.from,
  );
  const ranges: [number, number, number, number][] = [];
  for (const { producer, epoch, from, to } of sorted) {
    const last = ranges.at(-1);
    if (last?.[0] === producer && last[1] === epoch && last[3] === from) last[3] = to;
    else ranges.push([producer, epoch, from, to]);
  }
  return ranges;
}

/** What is settled of a producer: rows in the table, and `lost` positions. */
export type Known = { readonly settled: PositionSet; readonly lost: readonly Range[] };

/**
 * How much of an intent is in the table. `none`: undecided, a block under its token may still be committed. `some` or `all`: committed, so no
 * other block under its token ever will be. A position that is noted as lost does not show that anything is stored.
 */
export function storedShare(
  intent: Intent,
  known: (producer: number, epoch: number) => Known,
): "none" | "some" | "all" {
  let isAnyStored = false;
  let isAllSettled = true;
  for (const [producer, epoch, from, to] of intent.ranges) {
    const { settled, lost } = known(producer, epoch);
    const size = settled.sizeBelow(to) - settled.sizeBelow(from);
    if (size < to - from) isAllSettled = false;
    if (size > lostWithin(lost, [from, to])) isAnyStored = true;
  }
  if (!isAnyStored) return "none";
  return isAllSettled ? "all" : "some";
}

function lostWithin(lost: readonly Range[], [from, to]: Range): number {
  // Noted ranges may overlap, which only makes the intent seem less stored than it is: then it is inserted again and dropped.
  return lost.reduce(
    (sum, [start, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)),
    0,
  );
}

/** Whether all rows of a segment belong to the intent. */
export function isPartOf(intent: Intent, { producer, epoch, from, to, month }: Segment): boolean {
  if (month !== intent.month) return false;
  return intent.ranges.some(
    (range) => range[0] === producer && range[1] === epoch && range[2] <= from && to <= range[3],
  );
}

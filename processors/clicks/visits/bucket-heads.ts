import { BLOCK_ENTRIES } from "./visit-blocks.ts";

/*
 * A head describes a bucket in 32 bits: the number of its first block, and in the low 12 bits how many entries it has. An extra head at the
 * end has the block after the last bucket, so a bucket ends where the next bucket begins.
 */

const COUNT_BITS = 12;
/** Added to a head, moves the bucket by a block. */
export const ONE_BLOCK = 1 << COUNT_BITS;
/** The most entries of a bucket. */
export const ENTRIES_MAX = ONE_BLOCK - 1;

export function headOf(start: number, count: number): number {
  return ((start << COUNT_BITS) | count) >>> 0;
}

export function startOf(head: number): number {
  return head >>> COUNT_BITS;
}

export function countOf(head: number): number {
  return head & ENTRIES_MAX;
}

/** The blocks that have entries. A bucket may have spare blocks after them. */
export function blocksOf(head: number): number {
  return (countOf(head) + BLOCK_ENTRIES - 1) >>> 2;
}

/** Calls `visit` with the numbers of each entry and its bucket. */
export function forEachEntry(
  heads: Uint32Array,
  visit: (entry: number, bucket: number) => void,
): void {
  for (let bucket = 0; bucket < heads.length - 1; bucket += 1) {
    const head = heads[bucket] ?? 0;
    const first = startOf(head) * BLOCK_ENTRIES;
    const end = first + countOf(head);
    for (let entry = first; entry < end; entry += 1) visit(entry, bucket);
  }
}

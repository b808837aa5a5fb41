const ROUNDS_MAX = 10;

export type Compared = { readonly usual: () => void; readonly other: () => void };

/**
 * How many times the processor time of `usual` that of `other` is: the fastest round of each, taken in turn. What else the machine
 * does makes a round slower, never faster, so rounds are added, at most 10, until the ratio is below `limit`. Work that is
 * really dearer is so in every round.
 */
export function processorTimeRatio({ usual, other }: Compared, limit: number): number {
  let [usualUs, otherUs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    usualUs = Math.min(usualUs, processorUs(usual));
    otherUs = Math.min(otherUs, processorUs(other));
    if (otherUs < limit * usualUs) break;
  }
  return otherUs / usualUs;
}

function processorUs(work: () => void): number {
  const startedAt = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(startedAt);
  return user + system;
}

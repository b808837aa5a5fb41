const ROUNDS_MAX = 60;

export type Compared = { readonly usual: () => void; readonly other: () => void };

/**
 * The processor time of `other` divided by that of `usual`, for the fastest round of each; rounds alternate. Other work on the
 * machine makes a round slower, never faster. So rounds are added, at most 60, until the ratio is below `limit`: work that really
 * costs more does so in every round.
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

/** {@link processorTimeRatio} of work that waits. Whatever else the process does meanwhile counts, so nothing else may run. */
export async function processorTimeRatioOf(
  {
    usual,
    other,
  }: { readonly usual: () => Promise<unknown>; readonly other: () => Promise<unknown> },
  limit: number,
): Promise<number> {
  const processorUsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(startedAt);
    return user + system;
  };
  let [usualUs, otherUs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    usualUs = Math.min(usualUs, await processorUsOf(usual));
    otherUs = Math.min(otherUs, await processorUsOf(other));
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

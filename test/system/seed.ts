/**
 * The seed of every random choice in a test run: the variable SEED, or else a number that `vitest.config.ts` makes up once per
 * run and prints. The same seed repeats the same choices, but not what the operating system decides (when kills happen, the order
 * of requests).
 */
export const SEED = Number(process.env["SEED"]);

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` of the items, the same for the same SEED and in their order. Over many seeds each item is chosen equally often. */
export function chosenBySeed<T>(items: readonly T[], count: number, seed = SEED): T[] {
  const random = randomOf(seed);
  let left = count;
  return items.filter((_, at) => {
    const isChosen = random() * (items.length - at) < left;
    if (isChosen) left -= 1;
    return isChosen;
  });
}

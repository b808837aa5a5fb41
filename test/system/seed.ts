/**
 * The seed of every random choice in a test run: the variable SEED, else made up once per run by `vitest.config.ts`, and
 * printed. The same seed repeats the same choices; what the operating system decides (instants of kills, order of
 * requests) is not among them.
 */
export const SEED = Number(process.env["SEED"]);

/** Numbers from 0 to below 1; the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

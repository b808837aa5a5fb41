/**
 * The seed of every random choice in a test run: the variable SEED, else made up once per run by `vitest.config.ts`, and
 * printed. The same seed repeats the same choices; what the operating system decides (instants of kills, order of
 * requests) is not among them.
 */
export const SEED = Number(process.env["SEED"]);

/**
 * What a promise test compares, which decides what may run at the same time:
 * - `sets`: stored data with ledgers, or amounts of rows and memory. Other load changes how long the test takes, never its verdict.
 * - `times`: durations or costs. The test has the machine to itself.
 * - `times at full size`: like `times` in the full run; in CI these bounds are left out or only catch hangs.
 */
export type Kind = "sets" | "times" | "times at full size";

export type ListedPromise = {
  readonly number: number;
  readonly kind: Kind;
  /** At full size on two cores, rounded up. The longest promises start first. */
  readonly minutes: number;
};

/** Promises about parts that exist. Each has one or more files `pNN-….test.ts`. */
export const PROMISES: readonly ListedPromise[] = [
  { number: 1, kind: "sets", minutes: 8 },
  { number: 2, kind: "times", minutes: 14 },
  { number: 3, kind: "sets", minutes: 10 },
  { number: 4, kind: "sets", minutes: 16 },
  { number: 5, kind: "sets", minutes: 6 },
  { number: 6, kind: "sets", minutes: 1 },
  { number: 7, kind: "sets", minutes: 1 },
  { number: 8, kind: "sets", minutes: 8 },
  { number: 9, kind: "sets", minutes: 10 },
  { number: 10, kind: "sets", minutes: 7 },
  { number: 11, kind: "sets", minutes: 4 },
  { number: 12, kind: "times", minutes: 3 },
  { number: 13, kind: "times", minutes: 3 },
  { number: 14, kind: "sets", minutes: 6 },
  { number: 15, kind: "sets", minutes: 2 },
  { number: 16, kind: "sets", minutes: 4 },
  { number: 17, kind: "sets", minutes: 4 },
  { number: 18, kind: "times", minutes: 2 },
  { number: 19, kind: "sets", minutes: 5 },
  { number: 20, kind: "sets", minutes: 8 },
  { number: 21, kind: "sets", minutes: 8 },
  { number: 22, kind: "sets", minutes: 7 },
  { number: 23, kind: "times", minutes: 6 },
  { number: 24, kind: "sets", minutes: 1 },
  { number: 25, kind: "sets", minutes: 1 },
  { number: 26, kind: "sets", minutes: 3 },
  { number: 27, kind: "sets", minutes: 3 },
  { number: 28, kind: "sets", minutes: 7 },
  { number: 29, kind: "times", minutes: 3 },
  { number: 30, kind: "sets", minutes: 1 },
  { number: 31, kind: "sets", minutes: 2 },
  { number: 32, kind: "sets", minutes: 6 },
  { number: 33, kind: "sets", minutes: 1 },
  { number: 34, kind: "sets", minutes: 2 },
  { number: 35, kind: "sets", minutes: 2 },
  { number: 36, kind: "sets", minutes: 31 },
  { number: 37, kind: "sets", minutes: 1 },
  { number: 38, kind: "times at full size", minutes: 8 },
  // It starts thirty processes, one after the other: beside another test it takes three times as long.
  { number: 39, kind: "times", minutes: 9 },
  { number: 40, kind: "times", minutes: 30 },
  { number: 41, kind: "sets", minutes: 2 },
  { number: 42, kind: "sets", minutes: 6 },
  { number: 43, kind: "sets", minutes: 2 },
  { number: 44, kind: "sets", minutes: 40 },
];

/** Promises without a test of their size, or about parts that do not exist yet, with the reason. */
export const NOT_BUILT: Readonly<Record<number, string>> = {};

/** The highest number of a promise. */
export const LAST_PROMISE = 44;

/** The last of the promises that the contract numbers. Those of the features for networks follow: NP1 has the number after it (N128). */
const LAST_OF_CONTRACT = 43;

/** As texts call it. */
export function nameOfPromise(number: number): string {
  return number > LAST_OF_CONTRACT ? `NP${number - LAST_OF_CONTRACT}` : `P${number}`;
}

/** The number of the promise that a test file tests; undefined for any other file. */
export function promiseOfFile(path: string): number | undefined {
  const number = /(?:^|\/)p(\d\d)-[a-z0-9-]+\.test\.ts$/.exec(path)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Where the test files of promises are: those of the everyday run, and the deep ones. */
export const PROMISE_FOLDERS = ["test/promises", "test/deep/promises"] as const;
export type PromiseFolder = (typeof PROMISE_FOLDERS)[number];

/** A glob for the test files of a promise, relative to the project root. */
export function globOfPromise(number: number): string {
  return `test/{promises,deep/promises}/p${String(number).padStart(2, "0")}-*.test.ts`;
}

/** Globs of the test files that have the machine to themselves. */
export function aloneGlobs(isFull: boolean): string[] {
  return PROMISES.filter(
    ({ kind }) => kind === "times" || (isFull && kind === "times at full size"),
  ).map(({ number }) => globOfPromise(number));
}

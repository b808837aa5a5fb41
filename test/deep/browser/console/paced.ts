import { expect } from "vitest";

/** A shared machine of CI is slower than the one for which the budgets of the console are meant. */
const SLOWER = 2;
/** The median of so many rounds counts. */
const ROUNDS = 5;
/** After so many rounds it stops waiting for a quieter moment. */
const ROUNDS_MAX = 15;
const YARDSTICK_US = 100_000;

type Round = { readonly ms: number; readonly delays: readonly number[] };

/**
 * Does a step several times, prints how long it takes in the median, and compares that with twice its budget. On a busy machine the budget is
 * larger: a piece of work of known processor time is timed beside each round. While the median of the newest rounds is over the budget, the step
 * is done again.
 */
export async function expectPace(
  name: string,
  budgetMs: number,
  step: (round: number) => Promise<number>,
): Promise<void> {
  const rounds: Round[] = [];
  while (
    rounds.length < ROUNDS ||
    (rounds.length < ROUNDS_MAX && !isWithin(budgetMs, rounds.slice(-ROUNDS)))
  )
    rounds.push(await roundOf(async () => await step(rounds.length)));
  judge(name, budgetMs, rounds.slice(-ROUNDS));
}

/** The same for a step that can be done only once. */
export async function expectOnce(
  name: string,
  budgetMs: number,
  step: () => Promise<unknown>,
): Promise<void> {
  judge(name, budgetMs, [await roundOf(async () => await timed(step))]);
}

async function roundOf(step: () => Promise<number>): Promise<Round> {
  const before = delay();
  const ms = await step();
  return { ms, delays: [before, delay()] };
}

function judge(name: string, budgetMs: number, rounds: readonly Round[]): void {
  const ms = Math.round(medianOf(rounds.map((round) => round.ms)));
  const slower = slownessOf(rounds).toFixed(1);
  process.stdout.write(
    `${name}: ${ms} ms (budget ${budgetMs} ms; the machine is ${slower} times as slow as when idle)\n`,
  );
  expect([name, isWithin(budgetMs, rounds)]).toEqual([name, true]);
}

function isWithin(budgetMs: number, rounds: readonly Round[]): boolean {
  return medianOf(rounds.map(({ ms }) => ms)) <= budgetMs * SLOWER * slownessOf(rounds);
}

function slownessOf(rounds: readonly Round[]): number {
  return Math.max(1, medianOf(rounds.flatMap(({ delays }) => delays)));
}

/** How many times as long as its processor time a piece of work takes now. */
function delay(): number {
  const startedAtMs = performance.now();
  const before = process.cpuUsage();
  let usedUs = 0;
  while (usedUs < YARDSTICK_US) {
    const { user, system } = process.cpuUsage(before);
    usedUs = user + system;
  }
  return ((performance.now() - startedAtMs) * 1_000) / usedUs;
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

/** How long something takes, in ms. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return performance.now() - startedAtMs;
}

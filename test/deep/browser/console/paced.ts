import { expect } from "vitest";

/** A shared machine of CI is slower than the one for which the budgets of the console are meant. */
const SLOWER = 2;
const ROUNDS = 5;

/** Does a step several times, prints the median of how long it takes, and compares it with twice its budget. */
export async function expectPace(
  name: string,
  budgetMs: number,
  step: (round: number) => Promise<number>,
): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await step(round));
  const median = times.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
  process.stdout.write(`${name}: ${Math.round(median)} ms (budget ${budgetMs} ms)\n`);
  expect([name, median <= budgetMs * SLOWER]).toEqual([name, true]);
}

/** How long something takes, in ms. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await act();
  return performance.now() - startedAtMs;
}

import { expect } from "vitest";

/** A shared machine of CI is slower than the one for which the budgets of the console are meant. */
const SLOWER = 2;
const ROUNDS = 5;
const YARDSTICK_US = 100_000;

/**
 * Does a step several times, prints the median of how long it takes, and compares it with twice its budget: on a busy machine with as much more
 * as other work lasts longer there than its processor time.
 */
export async function expectPace(
  name: string,
  budgetMs: number,
  step: (round: number) => Promise<number>,
): Promise<void> {
  const times: number[] = [];
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    times.push(await step(round));
    delays.push(delay());
  }
  const [time, slower] = [medianOf(times), Math.max(1, medianOf(delays))];
  process.stdout.write(
    `${name}: ${Math.round(time)} ms (budget ${budgetMs} ms; the machine is ${slower.toFixed(1)} times as slow as when idle)\n`,
  );
  expect([name, time <= budgetMs * SLOWER * slower]).toEqual([name, true]);
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

import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";
import { EventQueue } from "./event-queue.ts";
import { Level } from "./level.ts";
import { Cores, Thread } from "./thread.ts";

const SERVICE_MS = 1;
const RUN_MS = 300_000;
const SHORT_RUN_MS = 60_000;

/** Single jobs at random times on one thread: utilisation, and jobs that wait or are served. */
function queue(load: number, seed: number, runMs = RUN_MS): { utilisation: number; jobs: number } {
  const events = new EventQueue();
  const arrivals = new Arrivals(seed);
  const thread = new Thread(events, new Cores(events, 1));
  const jobs = new Level(() => events.nowMs);
  const arrive = (): void => {
    jobs.add(1);
    thread.do(SERVICE_MS, () => jobs.add(-1));
    events.after(arrivals.exponential(SERVICE_MS / load), arrive);
  };
  events.after(0, arrive);
  events.runUntil(runMs);
  return { utilisation: thread.utilisation, jobs: jobs.mean };
}

test.each([0.3, 0.5, 0.8])(
  "random arrivals with a constant service time wait as M/D/1 says, at a load of %d",
  (load) => {
    const { utilisation, jobs } = queue(load, 7);
    expect(utilisation).toBeCloseTo(load, 1);
    // Pollaczek and Khinchine: those served, and load² ÷ (2 × (1 − load)) that wait.
    const expected = load + load ** 2 / (2 * (1 - load));
    expect(Math.abs(jobs / expected - 1)).toBeLessThan(0.05);
  },
);

test("a thread with more work than time is always busy, and its queue grows by the difference", () => {
  const { utilisation, jobs } = queue(1.25, 7, SHORT_RUN_MS);
  expect(utilisation).toBeGreaterThan(0.999);
  // 0.25 jobs a millisecond are left over, so on average half of the run's.
  expect(Math.abs(jobs / ((0.25 * SHORT_RUN_MS) / 2) - 1)).toBeLessThan(0.05);
});

test("with a quantum, work of all threads shares the cores and none of it is lost", () => {
  const events = new EventQueue();
  const cores = new Cores(events, 2, 1);
  const doneAtMs: number[] = [];
  for (const workMs of [10, 10, 10, 10]) {
    new Thread(events, cores).do(workMs, () => doneAtMs.push(events.nowMs));
  }
  events.runUntil(100);
  expect(doneAtMs).toEqual([19, 19, 20, 20]);
});

test("events at the same time run in the order in which they were scheduled", () => {
  const events = new EventQueue();
  const seen: number[] = [];
  for (const number of [1, 2, 3, 4, 5]) events.at(number % 2, () => seen.push(number));
  events.runUntil(10);
  expect(seen).toEqual([2, 4, 1, 3, 5]);
  expect(() => events.at(5, () => undefined)).toThrow(RangeError);
});

test("a Poisson number has its mean as its variance, below and above the exact range", () => {
  const arrivals = new Arrivals(3);
  for (const mean of [0.5, 20, 400]) {
    const drawn = Array.from({ length: 20_000 }, () => arrivals.poisson(mean));
    const average = drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
    const variance = drawn.reduce((sum, one) => sum + (one - average) ** 2, 0) / drawn.length;
    expect(Math.abs(average / mean - 1)).toBeLessThan(0.05);
    expect(Math.abs(variance / mean - 1)).toBeLessThan(0.05);
  }
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { ONCE, outcomeOf, type Step, schedules } from "../../../test/samples/lane-model.ts";
import { OneServer, Replicas } from "../../../test/samples/store-models.ts";

/** Ten thousand runs are in test/deploy/two-copies.test.ts. */
const RUNS = 300;

test("a server stores each row once, whatever inserts arrive late and whoever takes the lane (P9)", () => {
  const rules = { settles: true, confirms: false };
  fc.assert(
    fc.property(schedules, (schedule) => {
      expect(outcomeOf(new OneServer(), rules, schedule)).toEqual(ONCE);
    }),
    { numRuns: RUNS },
  );
});

test("replicas with a quorum store each row once, and lose none that was acknowledged (P9)", () => {
  const rules = { settles: true, confirms: true };
  fc.assert(
    fc.property(schedules, (schedule) => {
      expect(outcomeOf(new Replicas(), rules, schedule)).toEqual(ONCE);
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ["one server", () => new OneServer(), { settles: false, confirms: false }],
  ["replicas", () => new Replicas(), { settles: false, confirms: true }],
] as const)("without settling, the model of %s stores a row twice", (_, store, rules) => {
  const isOnce = (schedule: readonly Step[]): boolean =>
    outcomeOf(store(), rules, schedule).stored.join() === ONCE.stored.join();
  const { failed } = fc.check(fc.property(schedules, isOnce), {
    numRuns: 5_000,
    endOnFailure: true,
  });
  expect(failed).toBe(true);
});

test("rows that one replica alone has are confirmed before they are acknowledged", () => {
  const insert: Step[] = [
    [0, 0],
    [5, 0],
    [5, 0],
    [5, 0],
    [6, 0],
    [6, 0],
  ];
  // Another writer finds the rows on the same replica, which then fails before it was copied.
  const takeOver: Step[] = [
    [0, 3],
    [5, 1],
    [5, 1],
    [3, 24],
  ];
  const lose = (confirms: boolean): ReturnType<typeof outcomeOf> =>
    outcomeOf(new Replicas(), { settles: true, confirms }, [...insert, ...takeOver]);
  expect(lose(true)).toEqual(ONCE);
  expect(lose(false).isEachAcknowledgedStored).toBe(false);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { IS_FULL } from "../promises/report-cases.ts";
import { ONCE, outcomeOf, schedules } from "../samples/lane-model.ts";
import { OneServer, Replicas } from "../samples/store-models.ts";

/** The schedules of processors/clicks/lane/intent-model.test.ts in large numbers: 10,000 take 10 s. */
const RUNS = IS_FULL ? 10_000 : 1_000;

test.each([
  ["one server", () => new OneServer(), { settles: true, confirms: false }],
  ["replicas with a quorum", () => new Replicas(), { settles: true, confirms: true }],
] as const)(
  "%s: each row is stored once, and what was acknowledged stays (P9)",
  (_, store, rules) => {
    fc.assert(
      fc.property(schedules, (schedule) => {
        expect(outcomeOf(store(), rules, schedule)).toEqual(ONCE);
      }),
      { numRuns: RUNS },
    );
  },
);

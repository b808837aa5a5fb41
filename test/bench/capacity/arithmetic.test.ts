import { expect, test } from "vitest";
import {
  clickhouseGbPerDay,
  ingressHosts,
  ingressWorkers,
  journalGb,
  laneShares,
  neededLanes,
  streamTb,
  tlsCores,
  uniquesMemoryGb,
} from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import { knownInputs } from "./known-inputs.ts";
import { limitsOf } from "./limits.ts";
import { allShipping, laneShipping, messageRecordsMax } from "./messages.ts";

/* Expected values are calculated by hand from the figures of 2026-11-23; each comment is the calculation. */

const inputs = knownInputs();

test("the workers that are left can take the load of a lost host", () => {
  // 54,323 × 0.8 × 0.5 = 21,729 a worker; 100,000 need 5, so 3 hosts of 3.
  expect([ingressHosts(100_000, inputs), ingressWorkers(100_000, inputs)]).toEqual([3, 9]);
  // 1,000,000 need 47: of four hosts of 16 one may die, and the others have 3 × 16 = 48.
  expect([ingressHosts(1_000_000, inputs), ingressWorkers(1_000_000, inputs)]).toEqual([4, 64]);
  expect([ingressHosts(10_000, inputs), ingressWorkers(10_000, inputs)]).toEqual([1, 1]);
});

test("disks and memory are those of the formulas", () => {
  // 100,000 × 891 B ÷ 2 hosts × 1,800 s
  expect(journalGb(100_000, inputs)).toBeCloseTo(80.19);
  // 40,000 × 891 B × 259,200 s
  expect(streamTb(100_000, inputs)).toBeCloseTo(9.238, 3);
  // 40,000 × 86,400 × 67.4 B
  expect(clickhouseGbPerDay(100_000, inputs)).toBeCloseTo(232.9, 1);
  // 40,000 × 86,400 × 0.6 × 12 B
  expect(uniquesMemoryGb(100_000, inputs)).toBeCloseTo(24.88, 2);
  // 100,000 × 0.8 × 200 µs ÷ 0.5
  expect(tlsCores(100_000, inputs)).toBeCloseTo(32);
});

test("lanes come from the writer's rate, and the hottest offer is one of them", () => {
  // 100,000 ÷ 29,825
  expect(neededLanes(100_000, inputs)).toBe(4);
  const shares = laneShares(inputs, 4);
  // 0.2 + 0.8 ÷ 4
  expect(shares[0]).toBeCloseTo(0.4);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  expect(laneShares(inputs, 1)).toEqual([1]);
});

test("a busy lane gathers records for 40 ms and the acknowledgement, an idle one for 2 ms", () => {
  // 2 × 0.3 + 0.6 ms and the bytes of one record; 5,000/s × 41.2 ms
  expect(laneShipping(5_000, inputs).recordsPerMessage).toBeCloseTo(206, 0);
  const idle = laneShipping(10, inputs);
  expect(idle.recordsPerMessage).toBeCloseTo(1.02, 1);
  expect(idle.messagesPerSecond).toBeLessThanOrEqual(10);
  // 524,288 B ÷ 891 B, less than 1,024
  expect(laneShipping(100_000, inputs).recordsPerMessage).toBe(588);
  expect(messageRecordsMax(inputs)).toBe(588);
  expect(messageRecordsMax({ recordBytes: 100 })).toBe(CODE.messageRecordsMax);
});

test("more lanes cost more messages", () => {
  const of = (lanes: number): number => allShipping(1_000_000, lanes, inputs).messagesPerSecond;
  expect(of(16)).toBeGreaterThan(3 * of(4));
});

test("limits come in the order in which they are reached, with the code's own numbers", () => {
  const limits = limitsOf(inputs);
  const reached = limits.map(({ clicksPerSecond }) => clicksPerSecond);
  expect(reached).toEqual(reached.toSorted((a, b) => a - b));
  const at = (name: RegExp): number =>
    limits.find((limit) => name.test(limit.name))?.clicksPerSecond ?? Number.NaN;
  // 4 × 20 million ÷ (86,400 × 0.6) ÷ 0.4
  expect(at(/UNIQUE_VISITS_MAX 20 million/)).toBeCloseTo(3_858, 0);
  // 64 GiB ÷ (891 B × 259,200 s) ÷ 0.4
  expect(at(/CLICKS_STREAM_BYTES/)).toBeCloseTo(743.9, 1);
  // 4 × 29,825
  expect(at(/4 lanes/)).toBeCloseTo(119_298);
  // 29,825 ÷ 0.4
  expect(at(/hottest offer/)).toBeCloseTo(74_561, 0);
  // 1,150 × 0.5 ÷ 0.01
  expect(at(/conversions/)).toBeCloseTo(57_500);
});

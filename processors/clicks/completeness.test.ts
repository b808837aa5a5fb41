import { expect, test } from "vitest";
import { Completeness } from "./completeness.ts";

const T = Date.UTC(2026, 0, 1);

test("nothing is known before every live producer had the time to say something", () => {
  const completeness = new Completeness();
  expect(completeness.completeToMs).toBe(0);
  completeness.heard(1, 1, T);
  completeness.heard(1, 1, T + 1_000);
  expect(completeness.completeToMs).toBe(0);
  completeness.heard(1, 1, T + 1_500);
  expect(completeness.completeToMs).toBe(T + 1_500);
});

test("the slowest live producer says how far clicks are known", () => {
  const completeness = new Completeness();
  completeness.heard(1, 1, T);
  completeness.heard(2, 1, T + 100);
  completeness.heard(1, 1, T + 60_000);
  expect(completeness.completeToMs).toBe(T + 100);
});

test("a producer that is silent for two minutes of the stream holds nothing back any more", () => {
  const completeness = new Completeness();
  completeness.heard(2, 1, T);
  completeness.heard(1, 1, T + 120_001);
  expect(completeness.completeToMs).toBe(T + 120_001);
});

test("the epoch before holds back until its successor had the time to ship what was left", () => {
  const completeness = new Completeness();
  completeness.heard(1, 1, T);
  completeness.heard(1, 2, T + 10_000);
  expect(completeness.completeToMs).toBe(T);
  completeness.heard(1, 2, T + 30_001);
  expect(completeness.completeToMs).toBe(T + 30_001);
});

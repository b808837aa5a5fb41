import { expect, test } from "vitest";
import { UnstoredRecords } from "./unstored-records.ts";

const SECOND = 1_000;

test("the age is that of the oldest record that is not stored, at most a second more", () => {
  const records = new UnstoredRecords();
  // Ten records a second for a minute.
  for (let second = 0; second <= 60; second += 1) records.note(second * 10, second * SECOND);
  expect(records.ageOf(0, 60 * SECOND)).toBe(60);
  expect(records.ageOf(305, 60 * SECOND)).toBe(30);
  expect(records.ageOf(599, 60 * SECOND)).toBe(1);
});

test("the first record after a quiet time is as old as it is, not as old as the quiet time", () => {
  const records = new UnstoredRecords();
  for (let second = 0; second < 600; second += 1) records.note(7, second * SECOND);
  records.note(8, 600 * SECOND);
  expect(records.ageOf(7, 602 * SECOND)).toBe(3);
});

test("days without a writer take bounded memory and still show the age", () => {
  const records = new UnstoredRecords();
  const seconds = 3 * 86_400;
  for (let second = 0; second <= seconds; second += 1) records.note(second, second * SECOND);
  const age = records.ageOf(10, seconds * SECOND);
  expect(age).toBeGreaterThanOrEqual(seconds - 10);
  expect(age).toBeLessThan(seconds + 200);
});

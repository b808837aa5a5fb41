import { expect, test } from "vitest";
import { Completeness, type ProducerWord } from "./completeness.ts";

const T = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

/** Says `at` for a producer, which says what has ended unless `endedBefore` is left out. */
function word(producer: number, epoch: number, at: number, endedBefore?: number): ProducerWord {
  return { producer, epoch, at, next: 0, endedBefore };
}

test("nothing is known before every live producer had the time to say something", () => {
  const completeness = new Completeness();
  expect(completeness.completeToMs()).toBe(0);
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 1, T + 1_000, 1));
  expect(completeness.completeToMs()).toBe(0);
  completeness.heard(word(1, 1, T + 1_500, 1));
  expect(completeness.completeToMs()).toBe(T + 1_500);
});

test("the slowest live producer says how far clicks are known", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(2, 1, T + 100, 1));
  completeness.heard(word(1, 1, T + 60_000, 1));
  expect(completeness.completeToMs()).toBe(T + 100);
});

test("a producer that is cut off holds back for two days what was answered after its last word (G162)", () => {
  const completeness = new Completeness();
  completeness.heard(word(2, 1, T, 1));
  for (const hours of [0, 1, 24, 48]) {
    completeness.heard(word(1, 1, T + hours * HOUR_MS + 2_000, 1));
    expect([hours, completeness.completeToMs()]).toEqual([
      hours,
      hours < 48 ? T : T + 48 * HOUR_MS + 2_000,
    ]);
  }
});

test("it is asked for until it is back, and then everything is known again (G162)", () => {
  const completeness = new Completeness();
  completeness.heard(word(2, 1, T, 1));
  completeness.heard(word(1, 1, T + HOUR_MS, 1));
  // What it ships first is what it answered while it was cut off.
  completeness.heard(word(2, 1, T + 1_000, 1));
  expect(completeness.completeToMs()).toBe(T + 1_000);
  completeness.heard(word(2, 1, T + HOUR_MS, 1));
  expect(completeness.completeToMs()).toBe(T + HOUR_MS);
});

test("a producer that has ended holds nothing back", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(2, 1, T, 1));
  completeness.heard(word(2, 1, T + 100, 2));
  completeness.heard(word(1, 1, T + 5_000, 1));
  expect(completeness.completeToMs()).toBe(T + 5_000);
  expect(completeness.open).toEqual([{ producer: 1, epoch: 1, saidMs: T + 5_000 }]);
});

test("when all have ended, everything is known that the stream holds, until one begins again", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 1, T + 2_000, 2));
  expect(completeness.completeToMs()).toBe(T + 2_000);
  expect(completeness.completeToMs(T + HOUR_MS)).toBe(T + HOUR_MS + 1);
  completeness.heard(word(1, 2, T + HOUR_MS, 0));
  expect(completeness.completeToMs(T + 2 * HOUR_MS)).toBe(T + HOUR_MS);
});

test("an epoch that was cut short holds back until its successor has shipped what it left", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 2, T + HOUR_MS, 1));
  expect(completeness.completeToMs()).toBe(T);
  completeness.heard(word(1, 1, T + 60_000, 1));
  expect(completeness.completeToMs()).toBe(T + 60_000);
  completeness.heard(word(1, 2, T + 2 * HOUR_MS, 2));
  expect(completeness.completeToMs()).toBe(T + 2 * HOUR_MS);
  // Shipped once more, and late: what has ended stays so.
  completeness.heard(word(1, 1, T + 60_000));
  expect(completeness.completeToMs()).toBe(T + 2 * HOUR_MS);
});

test("of one producer's clicks only its own words tell", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(2, 1, T + HOUR_MS, 1));
  expect(completeness.completeToMsOf(1)).toBe(T);
  expect(completeness.completeToMsOf(2)).toBe(T + HOUR_MS);
  expect(completeness.completeToMsOf(3)).toBe(0);
  completeness.heard(word(2, 1, T + HOUR_MS + 5, 2));
  expect(completeness.completeToMsOf(2)).toBe(T + HOUR_MS + 5);
});

test("what an earlier owner of the lane has heard counts, until somebody says that it is gone", () => {
  const completeness = new Completeness();
  completeness.remember([{ producer: 2, epoch: 7, saidMs: T - HOUR_MS }]);
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 1, T + 2_000, 1));
  expect(completeness.completeToMs()).toBe(T - HOUR_MS);
  completeness.forget({ producer: 2, epoch: 7 });
  expect(completeness.completeToMs()).toBe(T + 2_000);
});

test("of producers that do not say when they end, silence tells", () => {
  const completeness = new Completeness();
  completeness.heard(word(2, 1, T));
  completeness.heard(word(3, 1, T));
  completeness.heard(word(3, 2, T + 10_000));
  expect(completeness.completeToMs()).toBe(T);
  completeness.heard(word(3, 2, T + 30_001));
  expect(completeness.completeToMs(), "the second still counts").toBe(T);
  completeness.heard(word(3, 2, T + 120_001));
  expect(completeness.completeToMs()).toBe(T + 120_001);
  expect(completeness.open).toEqual([]);
});

test("a producer whose clock was an hour ahead is complete to its true time, not to that hour (#11, P12)", () => {
  const completeness = new Completeness();
  completeness.heard({ ...word(1, 1, T, 1), next: 10 });
  completeness.heard({ ...word(1, 1, T + 2_000, 1), next: 20 });
  completeness.heard({ ...word(1, 1, T + HOUR_MS, 1), next: 30 });
  expect(completeness.completeToMs()).toBe(T + HOUR_MS);
  completeness.heard({ ...word(1, 1, T + 4_000, 1), next: 30 });
  expect(completeness.completeToMs()).toBe(T + 4_000);
  expect(completeness.completeToMsOf(1)).toBe(T + 4_000);
});

test("records that are repeated, and declarations of loss, take no word back (#11)", () => {
  const completeness = new Completeness();
  completeness.heard({ ...word(1, 1, T, 1), next: 10 });
  completeness.heard({ ...word(1, 1, T + 5_000, 1), next: 20 });
  completeness.heard({ ...word(1, 1, T + 1_000, 1), next: 15 });
  completeness.heard({ ...word(1, 1, 0, 1), next: 20 });
  expect(completeness.completeToMs()).toBe(T + 5_000);
});

test("a clock that was ahead when the first word came makes nobody wait for that hour (#11)", () => {
  const completeness = new Completeness();
  completeness.heard(word(1, 1, T + HOUR_MS, 1));
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 1, T + 2_000, 1));
  expect(completeness.completeToMs()).toBe(T + 2_000);
});

test("a producer whose clock is three days ahead makes no other one gone (#11, P12)", () => {
  const completeness = new Completeness({ nowMs: () => T + 2_000 });
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(2, 1, T + 72 * HOUR_MS, 1));
  expect(completeness.open).toHaveLength(2);
  expect(completeness.completeToMs()).toBe(T);
  // It ends, and begins again with the true time.
  completeness.heard(word(2, 1, T + 72 * HOUR_MS, 2));
  completeness.heard(word(2, 2, T + 1_000, 2));
  completeness.heard(word(1, 1, T + 1_900, 1));
  expect(completeness.completeToMs()).toBe(T + 1_000);
});

test("a producer's records until a moment are known once each epoch has passed it or ended (#23, TRK-037)", () => {
  const completeness = new Completeness();
  const isKnown = (): boolean => completeness.isAllKnownOf({ producer: 1, untilMs: T + 100 });
  completeness.heard(word(2, 1, T + HOUR_MS, 1));
  expect(isKnown()).toBe(false);
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(1, 2, T + 5_000, 1));
  // What the first epoch left may still be in its journal.
  expect(isKnown()).toBe(false);
  completeness.heard(word(1, 2, T + 6_000, 2));
  expect(isKnown()).toBe(true);
  const other = new Completeness();
  other.heard(word(1, 1, T, 1));
  other.heard(word(1, 1, T + 50, 2));
  expect(other.isAllKnownOf({ producer: 1, untilMs: T + 100 })).toBe(true);
});

test("a given-up producer does not prove that all is known until it is back and has shipped (#9)", () => {
  const completeness = new Completeness({ patienceMs: HOUR_MS });
  const dead = { producer: 2, untilMs: T + 1 };
  completeness.heard(word(1, 1, T, 1));
  completeness.heard(word(2, 1, T, 1));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, false]);
  completeness.forget({ producer: 2, epoch: 1 }, T + 60_000);
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  expect(completeness.isGivenUpOf({ producer: 2, untilMs: T + 60_001 })).toBe(false);
  expect(completeness.completeToMsOf(2)).toBe(T + 60_000);
  // Back with a newer start; the one before is still to be shipped.
  completeness.heard(word(2, 2, T + 120_000, 1));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  completeness.heard(word(2, 2, T + 121_000, 2));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([true, false]);
});

test("a producer silent for longer than the patience is given up once, also with other than 48 hours (#9)", () => {
  const completeness = new Completeness({ patienceMs: HOUR_MS });
  const dead = { producer: 2, untilMs: T + 1 };
  completeness.heard(word(2, 1, T, 1));
  completeness.heard(word(1, 1, T + HOUR_MS, 1));
  expect(completeness.takeGone()).toEqual([]);
  completeness.heard(word(1, 1, T + HOUR_MS + 1, 1));
  expect(completeness.takeGone()).toEqual([{ producer: 2, epoch: 1, saidMs: T }]);
  expect(completeness.takeGone()).toEqual([]);
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  // Another owner of the lane reads it from Postgres.
  const next = new Completeness({ patienceMs: HOUR_MS });
  expect(next.isGivenUpOf(dead)).toBe(false);
  next.rememberGivenUp([{ producer: 2, atMs: T + HOUR_MS }]);
  expect([next.isAllKnownOf(dead), next.isGivenUpOf(dead)]).toEqual([false, true]);
});

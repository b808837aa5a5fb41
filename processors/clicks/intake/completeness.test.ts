import { expect, test } from "vitest";
import { Completeness, type ProducerProgress } from "./completeness.ts";

const T = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

/** A message of a producer, cut at `at`. Without `endedBefore` it is from a producer that does not announce its ends. */
function progress(
  producer: number,
  epoch: number,
  at: number,
  endedBefore?: number,
): ProducerProgress {
  return { producer, epoch, at, next: 0, endedBefore };
}

test("nothing is complete before every live producer had time to send something", () => {
  const completeness = new Completeness();
  expect(completeness.completeToMs()).toBe(0);
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + 1_000, 1));
  expect(completeness.completeToMs()).toBe(0);
  completeness.noteMessage(progress(1, 1, T + 1_500, 1));
  expect(completeness.completeToMs()).toBe(T + 1_500);
});

test("the slowest live producer decides until when clicks are complete", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T + 100, 1));
  completeness.noteMessage(progress(1, 1, T + 60_000, 1));
  expect(completeness.completeToMs()).toBe(T + 100);
});

test("a producer that is cut off holds completeness at its last message for two days (G162)", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(2, 1, T, 1));
  for (const hours of [0, 1, 24, 48]) {
    completeness.noteMessage(progress(1, 1, T + hours * HOUR_MS + 2_000, 1));
    expect([hours, completeness.completeToMs()]).toEqual([
      hours,
      hours < 48 ? T : T + 48 * HOUR_MS + 2_000,
    ]);
  }
});

test("a producer that is cut off counts as open until it is back, and then all is complete (G162)", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(2, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + HOUR_MS, 1));
  // The first messages after its return bring the clicks that it answered while it was cut off.
  completeness.noteMessage(progress(2, 1, T + 1_000, 1));
  expect(completeness.completeToMs()).toBe(T + 1_000);
  completeness.noteMessage(progress(2, 1, T + HOUR_MS, 1));
  expect(completeness.completeToMs()).toBe(T + HOUR_MS);
});

test("a producer that has ended does not hold completeness", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T + 100, 2));
  completeness.noteMessage(progress(1, 1, T + 5_000, 1));
  expect(completeness.completeToMs()).toBe(T + 5_000);
  expect(completeness.open).toEqual([{ producer: 1, epoch: 1, lastMessageMs: T + 5_000 }]);
});

test("when all producers have ended, all clicks in the stream are complete, until one starts again", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + 2_000, 2));
  expect(completeness.completeToMs()).toBe(T + 2_000);
  expect(completeness.completeToMs(T + HOUR_MS)).toBe(T + HOUR_MS + 1);
  completeness.noteMessage(progress(1, 2, T + HOUR_MS, 0));
  expect(completeness.completeToMs(T + 2 * HOUR_MS)).toBe(T + HOUR_MS);
});

test("an epoch that was cut short holds completeness until its successor has shipped its leftovers", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 2, T + HOUR_MS, 1));
  expect(completeness.completeToMs()).toBe(T);
  completeness.noteMessage(progress(1, 1, T + 60_000, 1));
  expect(completeness.completeToMs()).toBe(T + 60_000);
  completeness.noteMessage(progress(1, 2, T + 2 * HOUR_MS, 2));
  expect(completeness.completeToMs()).toBe(T + 2 * HOUR_MS);
  // A message of an ended epoch that arrives late changes nothing.
  completeness.noteMessage(progress(1, 1, T + 60_000));
  expect(completeness.completeToMs()).toBe(T + 2 * HOUR_MS);
});

test("completeness of one producer's clicks depends only on its own messages", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T + HOUR_MS, 1));
  expect(completeness.completeToMsOf(1)).toBe(T);
  expect(completeness.completeToMsOf(2)).toBe(T + HOUR_MS);
  expect(completeness.completeToMsOf(3)).toBe(0);
  completeness.noteMessage(progress(2, 1, T + HOUR_MS + 5, 2));
  expect(completeness.completeToMsOf(2)).toBe(T + HOUR_MS + 5);
});

test("what an earlier owner of the lane heard counts, until the producer is given up", () => {
  const completeness = new Completeness();
  completeness.remember([{ producer: 2, epoch: 7, lastMessageMs: T - HOUR_MS }]);
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + 2_000, 1));
  expect(completeness.completeToMs()).toBe(T - HOUR_MS);
  completeness.forget({ producer: 2, epoch: 7 });
  expect(completeness.completeToMs()).toBe(T + 2_000);
});

test("producers that do not announce their end count as gone after a silence", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(2, 1, T));
  completeness.noteMessage(progress(3, 1, T));
  completeness.noteMessage(progress(3, 2, T + 10_000));
  expect(completeness.completeToMs()).toBe(T);
  completeness.noteMessage(progress(3, 2, T + 30_001));
  expect(completeness.completeToMs(), "the second still counts").toBe(T);
  completeness.noteMessage(progress(3, 2, T + 120_001));
  expect(completeness.completeToMs()).toBe(T + 120_001);
  expect(completeness.open).toEqual([]);
});

test("a producer whose clock was an hour ahead is complete up to its true time only (#11, P12)", () => {
  const completeness = new Completeness();
  completeness.noteMessage({ ...progress(1, 1, T, 1), next: 10 });
  completeness.noteMessage({ ...progress(1, 1, T + 2_000, 1), next: 20 });
  completeness.noteMessage({ ...progress(1, 1, T + HOUR_MS, 1), next: 30 });
  expect(completeness.completeToMs()).toBe(T + HOUR_MS);
  completeness.noteMessage({ ...progress(1, 1, T + 4_000, 1), next: 30 });
  expect(completeness.completeToMs()).toBe(T + 4_000);
  expect(completeness.completeToMsOf(1)).toBe(T + 4_000);
});

test("repeated records and declarations of loss do not set a producer's time back (#11)", () => {
  const completeness = new Completeness();
  completeness.noteMessage({ ...progress(1, 1, T, 1), next: 10 });
  completeness.noteMessage({ ...progress(1, 1, T + 5_000, 1), next: 20 });
  completeness.noteMessage({ ...progress(1, 1, T + 1_000, 1), next: 15 });
  completeness.noteMessage({ ...progress(1, 1, 0, 1), next: 20 });
  expect(completeness.completeToMs()).toBe(T + 5_000);
});

test("a stream that is read again gives up no live producer, though idle messages repeat no record (P12)", () => {
  const completeness = new Completeness();
  const first = { ...progress(1, 1, T, 1), next: 10 };
  completeness.noteMessage(first);
  completeness.noteMessage({ ...first, at: T + 60 * HOUR_MS });
  completeness.noteMessage(progress(2, 1, T + 60 * HOUR_MS, 1));
  completeness.noteMessage({ ...first, isRepeat: true });
  completeness.noteMessage({ ...first, at: T + 70 * HOUR_MS, isRepeat: true });
  expect(completeness.takeGone()).toEqual([]);
  expect(completeness.completeToMs()).toBe(T + 60 * HOUR_MS);
});

test("a clock that was an hour ahead at the first message delays nothing by that hour (#11)", () => {
  const completeness = new Completeness();
  completeness.noteMessage(progress(1, 1, T + HOUR_MS, 1));
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + 2_000, 1));
  expect(completeness.completeToMs()).toBe(T + 2_000);
});

test("a producer whose clock is three days ahead makes no other producer count as gone (#11, P12)", () => {
  const completeness = new Completeness({ nowMs: () => T + 2_000 });
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T + 72 * HOUR_MS, 1));
  expect(completeness.open).toHaveLength(2);
  expect(completeness.completeToMs()).toBe(T);
  // The producer ends, and starts again with the correct time.
  completeness.noteMessage(progress(2, 1, T + 72 * HOUR_MS, 2));
  completeness.noteMessage(progress(2, 2, T + 1_000, 2));
  completeness.noteMessage(progress(1, 1, T + 1_900, 1));
  expect(completeness.completeToMs()).toBe(T + 1_000);
});

test("a producer's records until a moment are known once each epoch has passed it or ended (#23, TRK-037)", () => {
  const completeness = new Completeness();
  const isKnown = (): boolean => completeness.isAllKnownOf({ producer: 1, untilMs: T + 100 });
  completeness.noteMessage(progress(2, 1, T + HOUR_MS, 1));
  expect(isKnown()).toBe(false);
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(1, 2, T + 5_000, 1));
  // Clicks of the first epoch may still be in its journal.
  expect(isKnown()).toBe(false);
  completeness.noteMessage(progress(1, 2, T + 6_000, 2));
  expect(isKnown()).toBe(true);
  const other = new Completeness();
  other.noteMessage(progress(1, 1, T, 1));
  other.noteMessage(progress(1, 1, T + 50, 2));
  expect(other.isAllKnownOf({ producer: 1, untilMs: T + 100 })).toBe(true);
});

test("the end of one epoch of a number ends no other, which may belong to another process", () => {
  const completeness = new Completeness({ patienceMs: HOUR_MS });
  completeness.noteMessage(progress(1, 5, T, 5));
  completeness.noteMessage(progress(1, 9, T + 10, 0));
  completeness.noteMessage({ ...progress(1, 9, T + 5_000, 0), hasEnded: true });
  completeness.noteMessage(progress(2, 1, T + 9_000, 1));
  expect(completeness.open.map(({ producer, epoch }) => [producer, epoch])).toEqual([
    [1, 5],
    [2, 1],
  ]);
  expect(completeness.completeToMs()).toBe(T);
  completeness.noteMessage(progress(1, 5, T + 9_500, 5));
  expect(completeness.completeToMs()).toBe(T + 9_000);
});

test("a given-up producer is complete only when it is back and has shipped its leftovers (#9)", () => {
  const completeness = new Completeness({ patienceMs: HOUR_MS });
  const dead = { producer: 2, untilMs: T + 1 };
  completeness.noteMessage(progress(1, 1, T, 1));
  completeness.noteMessage(progress(2, 1, T, 1));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, false]);
  completeness.forget({ producer: 2, epoch: 1 }, T + 60_000);
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  expect(completeness.isGivenUpOf({ producer: 2, untilMs: T + 60_001 })).toBe(false);
  expect(completeness.completeToMsOf(2)).toBe(T + 60_000);
  // The producer is back with a newer start; its earlier epoch must still be shipped.
  completeness.noteMessage(progress(2, 2, T + 120_000, 1));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  completeness.noteMessage(progress(2, 2, T + 121_000, 2));
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([true, false]);
});

test("a producer that is silent for too long is given up once, also with another limit than 48 h (#9)", () => {
  const completeness = new Completeness({ patienceMs: HOUR_MS });
  const dead = { producer: 2, untilMs: T + 1 };
  completeness.noteMessage(progress(2, 1, T, 1));
  completeness.noteMessage(progress(1, 1, T + HOUR_MS, 1));
  expect(completeness.takeGone()).toEqual([]);
  completeness.noteMessage(progress(1, 1, T + HOUR_MS + 1, 1));
  expect(completeness.takeGone()).toEqual([{ producer: 2, epoch: 1, lastMessageMs: T }]);
  expect(completeness.takeGone()).toEqual([]);
  expect([completeness.isAllKnownOf(dead), completeness.isGivenUpOf(dead)]).toEqual([false, true]);
  // Another owner of the lane reads it from Postgres.
  const next = new Completeness({ patienceMs: HOUR_MS });
  expect(next.isGivenUpOf(dead)).toBe(false);
  next.rememberGivenUp([{ producer: 2, atMs: T + HOUR_MS }]);
  expect([next.isAllKnownOf(dead), next.isGivenUpOf(dead)]).toEqual([false, true]);
});

test("all producers use more lanes only when each running start says so and has no earlier one left", () => {
  const completeness = new Completeness();
  const note = (producer: number, epoch: number, endedBefore: number, lanes?: number): void =>
    completeness.noteMessage({ ...progress(producer, epoch, T, endedBefore), lanes });
  expect(completeness.areRoutedTo(16)).toBe(true);
  note(1, 1, 1, 4);
  expect(completeness.areRoutedTo(16)).toBe(false);
  note(1, 1, 1, 16);
  expect([completeness.areRoutedTo(16), completeness.lanesHeard]).toEqual([true, 16]);
  // A start whose earlier journal is still shipped.
  note(2, 5, 0, 16);
  expect(completeness.areRoutedTo(16)).toBe(false);
  note(2, 5, 5);
  expect(completeness.areRoutedTo(16)).toBe(true);
  // A batch of leftovers does not say it.
  note(3, 1, 1);
  expect(completeness.areRoutedTo(16)).toBe(false);
  note(3, 1, 2);
  expect(completeness.areRoutedTo(16)).toBe(true);
  expect(completeness.areRoutedTo(32)).toBe(false);
});

test("an ingress that an earlier owner of the lane knew holds back a split until it is heard", () => {
  const completeness = new Completeness();
  completeness.remember([{ producer: 1, epoch: 1, lastMessageMs: T }]);
  expect(completeness.areRoutedTo(8)).toBe(false);
  completeness.noteMessage({ ...progress(1, 1, T + 1, 1), lanes: 8 });
  expect(completeness.areRoutedTo(8)).toBe(true);
});

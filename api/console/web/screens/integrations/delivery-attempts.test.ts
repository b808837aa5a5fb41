import { expect, test } from "vitest";
import { type Attempt, attemptLog, attemptsInWords, tells } from "./delivery-attempts.ts";

const attempt = (number: number): Attempt => ({
  number,
  sent_at: "2026-11-01T10:00:00.000Z",
  duration_ms: 12,
  status: "retrying",
  method: "POST",
  url: "https://x.example/",
  body: "{}",
  error: "timeout",
  response_status: null,
  response_body: "",
});
const ENDED = { next_attempt_at: null, finished_at: "2026-11-01T11:00:00.000Z" };
const WAITING = { next_attempt_at: "2026-11-01T11:00:00.000Z", finished_at: null };
const SENDING = { next_attempt_at: null, finished_at: null };

const seen = (delivery: Parameters<typeof attemptLog>[0]): readonly string[] =>
  attemptLog(delivery).entries.map(({ number, kind }) => `${number} ${kind}`);

test("attempts are listed newest first, and a number without a result is not left out", () => {
  const history = [attempt(1), attempt(3)];
  expect(seen({ total_attempts: 3, history, ...ENDED })).toEqual([
    "3 known",
    "2 unknown",
    "1 known",
  ]);
});

test("only the newest attempt of a delivery that is being sent is under way", () => {
  const history = [attempt(1)];
  expect(seen({ total_attempts: 3, history, ...SENDING })).toEqual([
    "3 under-way",
    "2 unknown",
    "1 known",
  ]);
  expect(seen({ total_attempts: 2, history, ...WAITING })).toEqual(["2 unknown", "1 known"]);
  expect(seen({ total_attempts: 0, history: [], ...WAITING })).toEqual([]);
});

test("attempts that are no longer kept are counted, not called unknown", () => {
  const history = Array.from({ length: 50 }, (_, at) => attempt(at + 4));
  const log = attemptLog({ total_attempts: 53, history, ...ENDED });
  expect([log.forgotten, log.entries.length]).toEqual([3, 50]);
  expect(log.entries.every(({ kind }) => kind === "known")).toBe(true);
});

test("a delivery says its event or its change, and counts in words", () => {
  expect(tells({ event: "offer.created" })).toBe("offer.created");
  expect(tells({ trigger: "reversal" })).toBe("Approved conversion taken back");
  expect([0, 1, 2].map(attemptsInWords)).toEqual(["0 attempts", "1 attempt", "2 attempts"]);
});

import { pino } from "pino";
import { expect, test } from "vitest";
import { Backoff, risingWaitMs } from "./backoff.ts";

const { signal } = new AbortController();

test("a wait doubles with each failure up to the longest, also after very many (issue 14, 9)", () => {
  const waits = [1, 2, 3, 4, 5, 10_000].map((failures) =>
    risingWaitMs({ firstMs: 50, longestMs: 300 }, failures),
  );
  expect(waits).toEqual([50, 100, 200, 300, 300, 300]);
});

test("a wait is spread between its factors, and starts again after a success (issue 14, 9)", () => {
  const spread = [0.5, 1.5] as const;
  const backoff = new Backoff({ firstMs: 100, longestMs: 1_000, spread, signal });
  for (const baseMs of [100, 200, 400, 800, 1_000, 1_000]) {
    const ms = backoff.failed(undefined);
    expect(ms).toBeGreaterThanOrEqual(baseMs * 0.5);
    expect(ms).toBeLessThan(baseMs * 1.5);
  }
  backoff.reset();
  expect(backoff.failed(undefined)).toBeLessThan(150);
});

test("failures 1, 2, 4, 8 … are logged under their name, and their end once (issue 14, 9)", () => {
  const lines: unknown[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line) => lines.push(JSON.parse(line)) },
  );
  const report = { log, event: "store.is-away" };
  const backoff = new Backoff({ firstMs: 1, longestMs: 1, signal, report });
  for (let failures = 1; failures <= 9; failures += 1) backoff.failed(undefined);
  backoff.reset();
  backoff.reset();
  expect(lines).toEqual([
    ...[1, 2, 4, 8].map((attempts) => ({ level: "warn", attempts, msg: "store.is-away" })),
    { level: "info", attempts: 9, msg: "store.is-away.over" },
  ]);
});

test("the signal ends a wait without an error, and a repeated attempt with its reason (issue 14, 9)", async () => {
  const end = new AbortController();
  const backoff = new Backoff({ firstMs: 600_000, longestMs: 600_000, signal: end.signal });
  const waiting = backoff.pause(new Error("away"));
  const repeated = backoff.repeat(() => Promise.reject(new Error("away")));
  end.abort(new Error("the end"));
  await waiting;
  await expect(repeated).rejects.toThrow("the end");
});

test("an attempt is repeated until it succeeds, unless its error may not pass (issue 14, 9)", async () => {
  const backoff = new Backoff({ firstMs: 1, longestMs: 1, signal });
  let attempts = 0;
  const attempt = async (): Promise<number> => {
    attempts += 1;
    if (attempts < 3) throw new Error(`away ${attempts}`);
    return attempts;
  };
  expect(await backoff.repeat(attempt)).toBe(3);
  attempts = 0;
  const isFirst = (error: unknown): boolean => error instanceof Error && error.message === "away 1";
  await expect(backoff.repeat(attempt, isFirst)).rejects.toThrow("away 2");
});

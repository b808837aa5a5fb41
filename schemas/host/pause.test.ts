import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { pause } from "./pause.ts";

test("a pause lasts as long as it is told, and leaves nothing at its signal", async () => {
  const { signal } = new AbortController();
  const startedAtMs = performance.now();
  await pause(20, signal);
  // A timer may be a millisecond early.
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(19);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("the signal ends a pause early and without a fault, also before it begins", async () => {
  const stop = new AbortController();
  const paused = pause(60_000, stop.signal);
  stop.abort(new Error("the process ends"));
  await expect(paused).resolves.toBeUndefined();
  await expect(pause(60_000, stop.signal)).resolves.toBeUndefined();
});

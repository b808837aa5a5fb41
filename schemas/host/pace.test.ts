import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("a loop pauses longer after ten seconds without work, and shorter again from the next work on", () => {
  const pace = new Pace({ busyMs: 100, idleMs: 400 });
  const startMs = performance.now();
  expect(pace.pauseMs(startMs)).toBe(100);
  expect(pace.pauseMs(startMs + 9_000)).toBe(100);
  expect(pace.pauseMs(startMs + 11_000)).toBe(400);
  pace.worked(startMs + 60_000);
  expect(pace.pauseMs(startMs + 69_999)).toBe(100);
  expect(pace.pauseMs(startMs + 70_000)).toBe(400);
});

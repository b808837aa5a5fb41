import { expect, test } from "vitest";
import { IdlePause } from "./idle-pause.ts";

test("a loop pauses longer after ten seconds without work, and shorter again from the next work on", () => {
  const idlePause = new IdlePause({ busyMs: 100, idleMs: 400 });
  const startMs = performance.now();
  expect(idlePause.pauseMs(startMs)).toBe(100);
  expect(idlePause.pauseMs(startMs + 9_000)).toBe(100);
  expect(idlePause.pauseMs(startMs + 11_000)).toBe(400);
  idlePause.worked(startMs + 60_000);
  expect(idlePause.pauseMs(startMs + 69_999)).toBe(100);
  expect(idlePause.pauseMs(startMs + 70_000)).toBe(400);
});

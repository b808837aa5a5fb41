import { expect, test } from "vitest";
import { LineLimiter, LineSplitter, shownLine } from "./log-lines.ts";

test("the terminal shows warnings and errors of a log, and whatever is not a log line", () => {
  expect(shownLine('{"level":"info","msg":"click.stored"}')).toBeUndefined();
  expect(shownLine('{"level":"warn","time":"t","pid":1,"msg":"journal.behind","bytes":10}')).toBe(
    "journal.behind bytes=10",
  );
  expect(shownLine('{"level":50,"msg":"x","err":{"message":"gone","stack":"…"}}')).toBe(
    "x err=gone",
  );
  expect(shownLine('{"t":"2026-01-02T03:04:05.006Z","role":"api","status":503}')).toBeUndefined();
  expect(shownLine("Error: out of memory")).toBe("Error: out of memory");
  expect(shownLine('{"broken')).toBe('{"broken');
  expect(shownLine("  ")).toBeUndefined();
});

test("a process that complains in a loop gets its share of the terminal, and the rest is counted", () => {
  const limiter = new LineLimiter(2, 1_000);
  const passed = [0, 1, 2, 3, 999].map((atMs) => limiter.pass(`line ${atMs}`, atMs));
  expect(passed).toEqual(["line 0", "line 1", undefined, undefined, undefined]);
  expect(limiter.pass("later", 1_000)).toBe("(3 lines left out) later");
  expect(limiter.pass("again", 1_001)).toBe("again");
});

test("lines come whole however the stream is cut, and an endless one is cut off", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const part of ["one\ntw", "o\r\n", "\nthr"]) splitter.push(part);
  splitter.end();
  expect(lines).toEqual(["one", "two", "", "thr"]);
  splitter.push(`${"x".repeat(100_000)}\n`);
  expect(lines.at(-1)).toHaveLength(8_192);
});

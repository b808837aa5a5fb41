import { expect, test } from "vitest";
import { formatSeconds, terminalReport, wrapText } from "./report.ts";

test("no line is longer than 100 columns, and what follows is aligned", () => {
  let output = "";
  const report = terminalReport({ write: (text) => (output += text), colours: false });
  report.note("postgres", "word ".repeat(60).trim());
  const lines = output.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  for (const line of lines.slice(1)) expect(line.startsWith(`${" ".repeat(14)}word`)).toBe(true);
});

test("without a terminal there are no colours", () => {
  let output = "";
  const report = terminalReport({ write: (text) => (output += text), colours: false });
  report.warn("nats", "away");
  expect(output).toBe("nats          away\n");
});

test("a word longer than the line, such as a link, stays whole", () => {
  const link = `http://127.0.0.1:8080/${"a".repeat(50)}`;
  expect(wrapText(`see ${link} there`, 20)).toEqual(["see", link, "there"]);
});

test.each([
  [40, "0.0 s"],
  [1_349, "1.3 s"],
  [9_960, "10 s"],
  [119_400, "119 s"],
  [125_000, "2 min 5 s"],
])("%i ms is said as %s", (durationMs, text) => {
  expect(formatSeconds(durationMs)).toBe(text);
});

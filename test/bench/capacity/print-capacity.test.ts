import { expect, test } from "vitest";
import { HERE, knownOrigins } from "./known-inputs.ts";
import { readPriceList } from "./price.ts";
import { capacityText } from "./print-capacity.ts";
import { COLUMNS_MAX } from "./text-table.ts";

const LATER = {
  bench: "writer",
  machine: { ...HERE, processor: "Another processor" },
  date: "2026-11-24",
  commit: "0123456789",
  busy: 0,
  figures: { writerRowsPerSecond: 70_000 },
};

function printed(origins: ReturnType<typeof knownOrigins>): string[] {
  const options = {
    origins,
    prices: readPriceList(undefined),
    nowMs: Date.parse("2026-11-25T00:00:00Z"),
  };
  return [...capacityText(options)].join("\n").split("\n");
}

test("no line is longer than 100 characters", () => {
  const lines = printed(knownOrigins());
  expect(lines.length).toBeGreaterThan(80);
  expect(lines.filter((line) => line.length > COLUMNS_MAX)).toEqual([]);
});

test("each input says how old it is and whether this kind of machine measured it", () => {
  const lines = printed(knownOrigins([LATER]));
  const line = (text: string): string => lines.find((one) => one.startsWith(text)) ?? "";
  expect(line("rows of one lane's writer")).toMatch(/ 70,000 +\/s +e +1 +0.0 +writer, 2 × Another/);
  expect(line("redirects of one worker")).toMatch(/ 54,323 +\/s +m +2 +0.1 +all, 2 × AMD EPYC/);
  expect(line("conversions ÷ clicks")).toMatch(/ 0\.01 +a$/);
});

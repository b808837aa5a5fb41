import { expect, test } from "vitest";
import { HERE, knownOrigins } from "./known-inputs.ts";
import { readPriceList } from "./price.ts";
import { capacityText, verdictOf } from "./print-capacity.ts";
import { COLUMNS_MAX } from "./text-table.ts";

const LATER = {
  bench: "writer",
  machine: { ...HERE, processor: "Another processor" },
  date: "2026-11-24",
  commit: "0123456789",
  busy: 0,
  figures: { writerRowsPerSecond: 70_000 },
};

/** Everything up to the model, whose text takes seconds, and its first case. */
function printed(origins: ReturnType<typeof knownOrigins>): string[] {
  const options = {
    origins,
    prices: readPriceList(undefined),
    seed: 1,
    nowMs: Date.parse("2026-11-25T00:00:00Z"),
  };
  const parts: string[] = [];
  for (const part of capacityText(options)) {
    parts.push(part);
    if (part.includes("inserts/s")) break;
  }
  return parts.join("\n").split("\n");
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

test("a stage that neither agrees nor is explained by a saturated one before it differs", () => {
  const free = { utilisation: 0.5 };
  const full = { utilisation: 0.99 };
  expect(verdictOf({ expected: 0.5, utilisation: 0.54 }, [free])).toBe("agrees");
  expect(verdictOf({ expected: 0.5, utilisation: 0.56 }, [free])).toBe("DIFFERS");
  expect(verdictOf({ expected: 0.5, utilisation: 0.2 }, [full])).toBe("starved");
  expect(verdictOf({ expected: 0.5, utilisation: 0.7 }, [full])).toBe("DIFFERS");
  expect(verdictOf({ expected: 4, utilisation: 0.99 }, [free])).toBe("saturated");
  expect(verdictOf({ expected: 0.5, utilisation: 0.99 }, [free])).toBe("DIFFERS");
});

import { describe, expect, test } from "vitest";
import { PRESETS } from "./presets.ts";
import { echoRange, type RangeQuery, type RangeRules, resolveRange } from "./range.ts";

/** Wednesday. In Berlin it is already the 13th. */
const NOW_MS = Date.parse("2025-03-12T23:30:00.000Z");
const RULES: RangeRules = { nowMs: NOW_MS, workspaceTimezone: "UTC", defaultPreset: "last30" };

function resolve(query: RangeQuery, rules: Partial<RangeRules> = {}) {
  const result = resolveRange(query, { ...RULES, ...rules });
  if (result.kind === "refused") return result.param;
  const { from, to, tz } = echoRange(result.range);
  return [from, to, tz];
}

test.each([
  ["today", "2025-03-12", "2025-03-12"],
  ["yesterday", "2025-03-11", "2025-03-11"],
  ["last7", "2025-03-06", "2025-03-12"],
  ["last14", "2025-02-27", "2025-03-12"],
  ["last30", "2025-02-11", "2025-03-12"],
  ["last90", "2024-12-13", "2025-03-12"],
  ["this_week", "2025-03-10", "2025-03-12"],
  ["last_week", "2025-03-03", "2025-03-09"],
  ["this_month", "2025-03-01", "2025-03-12"],
  ["last_month", "2025-02-01", "2025-02-28"],
  ["this_quarter", "2025-01-01", "2025-03-12"],
  ["last_quarter", "2024-10-01", "2024-12-31"],
  ["this_year", "2025-01-01", "2025-03-12"],
  ["last_year", "2024-01-01", "2024-12-31"],
] as const)("preset %s is %s to %s (ENV-029, G29)", (preset, first, last) => {
  expect(resolve({ preset })).toEqual([`${first}T00:00:00.000Z`, `${last}T23:59:59.999Z`, "UTC"]);
});

test("the table above names every preset", () => {
  expect(PRESETS).toHaveLength(14);
});

describe("zones (ENV-028, ENV-030, G31)", () => {
  test("a date is the local day of tz", () => {
    expect(resolve({ from: "2025-03-01", to: "2025-03-01", tz: "Europe/Berlin" })).toEqual([
      "2025-02-28T23:00:00.000Z",
      "2025-03-01T22:59:59.999Z",
      "Europe/Berlin",
    ]);
  });

  test("without tz the workspace's zone counts", () => {
    expect(resolve({ preset: "today" }, { workspaceTimezone: "Europe/Berlin" })).toEqual([
      "2025-03-12T23:00:00.000Z",
      "2025-03-13T22:59:59.999Z",
      "Europe/Berlin",
    ]);
  });

  test("days of 23 and 25 hours are whole (T71, T76)", () => {
    const tz = "Europe/Berlin";
    expect(resolve({ from: "2025-03-30", to: "2025-03-30", tz })).toEqual([
      "2025-03-29T23:00:00.000Z",
      "2025-03-30T21:59:59.999Z",
      tz,
    ]);
    expect(resolve({ from: "2025-10-26", to: "2025-10-26", tz })).toEqual([
      "2025-10-25T22:00:00.000Z",
      "2025-10-26T22:59:59.999Z",
      tz,
    ]);
  });
});

describe("date-times (G30)", () => {
  const to = "2025-03-12T00:00:00Z";

  test.each([
    ["2025-03-01T10:00:00Z", "2025-03-01T10:00:00.000Z"],
    ["2025-03-01T10:00Z", "2025-03-01T10:00:00.000Z"],
    ["2025-03-01T10:00:00.1234567Z", "2025-03-01T10:00:00.123Z"],
    ["2025-03-01T10:00:00+02:00", "2025-03-01T08:00:00.000Z"],
    ["2025-03-01T10:00:00 02:00", "2025-03-01T08:00:00.000Z"],
    ["2025-03-01T10:00:00-0530", "2025-03-01T15:30:00.000Z"],
    ["2025-03-01T10:00:00", "2025-03-01T04:15:00.000Z"],
  ] as const)("%s is %s", (from, expected) => {
    expect(resolve({ from, to, tz: "Asia/Kathmandu" })).toEqual([
      expected,
      "2025-03-12T00:00:00.000Z",
      "Asia/Kathmandu",
    ]);
  });

  test("from and to win over a preset, and `to` is now by default", () => {
    expect(resolve({ from: "2025-03-01", preset: "yesterday" })).toEqual([
      "2025-03-01T00:00:00.000Z",
      "2025-03-12T23:30:00.000Z",
      "UTC",
    ]);
  });

  test("a lone `to` ends the default span", () => {
    expect(resolve({ to: "2025-03-10" })).toEqual([
      "2025-02-09T00:00:00.000Z",
      "2025-03-10T23:59:59.999Z",
      "UTC",
    ]);
    expect(resolve({ to: "2025-03-10T12:00:00Z" }, { defaultPreset: "last7" })).toEqual([
      "2025-03-03T12:00:00.000Z",
      "2025-03-10T12:00:00.000Z",
      "UTC",
    ]);
  });
});

test.each([
  [{ from: "notadate" }, "from"],
  [{ from: "2025-02-29" }, "from"],
  [{ from: "" }, "from"],
  [{ from: "1741737600000" }, "from"],
  [{ from: "2025-03-01T25:00:00Z" }, "from"],
  [{ from: "2025-03-01T10:00:00+99:99" }, "from"],
  [{ from: "1969-01-01" }, "from"],
  [{ from: "2025-03-10", to: "2025-03-09" }, "from"],
  [{ from: "2025-04-01" }, "from"],
  [{ to: "2025-3-1" }, "to"],
  [{ to: "2100-06-01" }, "to"],
  [{ tz: "Mars/Base" }, "tz"],
  [{ tz: "" }, "tz"],
  [{ preset: "foo" }, "preset"],
  [{ from: "2025-03-01", preset: "foo" }, "preset"],
] as const)("%j is refused by its parameter (ENV-031)", (query, param) => {
  expect(resolve(query)).toBe(param);
});

describe("the longest range is still accepted (T76, CLK-003)", () => {
  const tz = "Europe/Berlin";

  test.each([
    [{ from: "2025-01-01", to: "2025-04-03" }, true],
    [{ from: "2025-01-01", to: "2025-04-04" }, false],
    [{ from: "2025-01-01T00:00:00Z", to: "2025-04-04T00:00:00Z" }, true],
    [{ from: "2025-01-01T00:00:00Z", to: "2025-04-04T00:00:00.001Z" }, false],
  ] as const)("93 days: %j accepted %s", (query, isAccepted) => {
    const result = resolve(query, { daysMax: 93 });
    expect(result === "from").toBe(!isAccepted);
  });

  test("on days of 25 and 23 hours a day counts once", () => {
    expect(resolve({ from: "2025-10-01", to: "2025-10-31", tz }, { daysMax: 31 })).not.toBe("from");
    const spring = { from: "2025-03-01T00:00:00Z", to: "2025-04-01T00:00:00Z", tz };
    expect(resolve(spring, { daysMax: 31 })).not.toBe("from");
  });
});

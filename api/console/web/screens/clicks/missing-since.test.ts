import { expect, test } from "vitest";
import { missingSince } from "./missing-since.ts";

const NOW_MS = Date.parse("2025-02-03T12:00:00.000Z");
const TODAY = "2025-02-03T22:59:59.999Z";

test.each([
  ["2025-02-03T11:59:59.000Z", TODAY, undefined],
  ["2025-02-03T11:50:00.000Z", TODAY, "2025-02-03T11:50:00.000Z"],
  [null, TODAY, "unknown"],
  ["2025-02-01T22:59:59.999Z", "2025-02-01T22:59:59.999Z", undefined],
])("a list complete until %s that ends at %s lacks clicks since %s (G264)", (until, to, since) => {
  expect(missingSince({ until, to }, NOW_MS)).toBe(since);
});

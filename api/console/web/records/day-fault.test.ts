import { expect, test } from "vitest";
import { dayFault, typedFault } from "./day-fault.ts";

test("a filter says in words why its day filters nothing", () => {
  expect(dayFault("", "2026-11-02")).toBeUndefined();
  expect(dayFault("2026-11-02", "2026-11-02")).toBeUndefined();
  expect(dayFault("2026-11-02", "")).toBeUndefined();
  expect(dayFault("2026-11-02", "soon")).toBeUndefined();
  expect(dayFault("2026-02-30", "")).toBe("“2026-02-30” is no day");
  expect(dayFault("2026-11-01", "2026-11-02")).toBe("This day is before the first");
  expect(typedFault({ badInput: true })).toBe("Choose a whole day");
  expect(typedFault({ badInput: false })).toContain("1970-01-01");
});

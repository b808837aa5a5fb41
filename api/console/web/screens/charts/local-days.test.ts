import { expect, test } from "vitest";
import { daysFrom, localDay } from "./local-days.ts";

test("an instant lies in the day that a clock of the zone shows", () => {
  const instant = new Date("2026-10-24T22:30:00Z");
  expect(localDay(instant, "Europe/Berlin")).toBe("2026-10-25");
  expect(localDay(instant, "America/New_York")).toBe("2026-10-24");
});

test("a range has each of its days once, also where clocks are put back", () => {
  expect(daysFrom("2026-10-24", "2026-10-26")).toEqual(["2026-10-24", "2026-10-25", "2026-10-26"]);
  expect(daysFrom("2026-02-28", "2026-03-01")).toEqual(["2026-02-28", "2026-03-01"]);
  expect(daysFrom("2026-02-28", "2026-02-28")).toEqual(["2026-02-28"]);
});

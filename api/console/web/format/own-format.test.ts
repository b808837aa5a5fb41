import { afterEach, expect, test } from "vitest";
import { formatCountry } from "./country.ts";
import { formatCount } from "./figure.ts";
import { formatMoney } from "./money.ts";
import { chooseFormat } from "./own-format.ts";
import { formatBucket, formatDay, formatInstant, formatPeriod } from "./time.ts";

afterEach(() => chooseFormat({}));

const NOON = "2026-11-25T12:00:00.000Z";

test("the language of the person decides numbers, money and dates (#39)", () => {
  chooseFormat({ locale: "de-DE" });
  expect(formatCount(1_234_567)).toBe("1.234.567");
  expect(formatMoney("12.5000", "EUR")).toBe("12,50\u00A0€");
  expect(formatBucket("2026-11-25", "day")).toBe("25. Nov.");
  expect(formatDay("2026-11-25")).toBe("25.11.2026");
  expect(formatCountry("DE")).toBe("Deutschland");
  chooseFormat({ locale: "en-GB" });
  expect(formatMoney("12.5000", "EUR")).toBe("€12.50");
  expect(formatCountry("DE")).toBe("Germany");
});

test("a period is its first and last day by the clock of its own zone, and no day is empty (#39)", () => {
  chooseFormat({ locale: "en-GB", timezone: "Asia/Tokyo" });
  const november = { from: "2026-10-31T23:00:00.000Z", to: "2026-11-30T23:00:00.000Z" };
  expect(formatPeriod(november, "Europe/Berlin")).toMatch(/^1\s?–\s?30 Nov 2026$/);
  const day = { from: "2026-11-24T23:00:00.000Z", to: "2026-11-25T23:00:00.000Z" };
  expect(formatPeriod(day, "Europe/Berlin")).toBe("25 Nov 2026");
  expect(formatDay(null)).toBe("");
});

test("the zone of the person decides clocks, and never the day of a report (#39)", () => {
  chooseFormat({ locale: "en-GB", timezone: "Asia/Tokyo" });
  expect(formatInstant(NOON, "UTC")).toContain("21:00:00");
  expect(formatBucket("2026-11-25", "day")).toBe("25 Nov");
  chooseFormat({ locale: "en-GB" });
  expect(formatInstant(NOON, "UTC")).toContain("12:00:00");
});

test("a stored choice that this browser does not know breaks no date (#39)", () => {
  chooseFormat({ locale: "not a language", timezone: "Mars/Olympus" });
  expect(formatInstant(NOON, "UTC")).toContain("2026");
});

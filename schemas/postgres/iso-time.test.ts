import fc from "fast-check";
import { expect, test } from "vitest";
import { isoTime } from "./iso-time.ts";

test.each([
  ["2026-11-23 04:51:15+00", "2026-11-23T04:51:15.000Z"],
  ["2026-11-23 04:51:15.1+00", "2026-11-23T04:51:15.100Z"],
  ["2026-11-23 04:51:15.123456+00", "2026-11-23T04:51:15.123Z"],
  ["2026-11-23 04:51:15.12+05:30", "2026-11-22T23:21:15.120Z"],
  ["2026-11-23 04:51:15-03", "2026-11-23T07:51:15.000Z"],
])("%s is read as %s", (text, iso) => {
  expect(isoTime(text)).toBe(iso);
});

test("every time that Postgres writes in UTC is read as a date would be", () => {
  const years = { min: new Date("1000-01-01"), max: new Date("9999-12-31"), noInvalidDate: true };
  fc.assert(
    fc.property(fc.date(years), fc.integer({ min: 0, max: 999 }), (date, micros) => {
      const [day = "", time = ""] = date.toISOString().slice(0, -1).split("T");
      const written = `${time}${String(micros).padStart(3, "0")}`.replace(/\.?0+$/, "");
      expect(isoTime(`${day} ${written}+00`)).toBe(date.toISOString());
    }),
  );
});

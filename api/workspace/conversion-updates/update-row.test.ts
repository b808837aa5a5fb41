import { expect, test } from "vitest";
import { readUpdateRow } from "./update-row.ts";

const NAMED = { click_id: "AB".repeat(16) };

test.each([
  [{ payout: "12.345678", currency: "eur" }, { payout: "12.3457", currency: "EUR" }, {}],
  [{ payout: 12 }, { payout: "12.0000" }, {}],
  [{ payout: 12.5 }, {}, { payout: "expected text" }],
  [
    { payout: "1e3" },
    { payout: "1e3" },
    { payout: "has an exponent: write all digits, such as 1200.50" },
  ],
  [{ payout: "-1" }, { payout: "-1" }, { payout: "must not be negative" }],
  [{ note: "a\0b" }, { note: "a\uFFFDb" }, { note: "contains a character that is not allowed" }],
  [{ reason: " x ", status: " VOID " }, { reason: "x", status: "rejected" }, {}],
])("the row %j is read (N129)", (given, fields, faults) => {
  const read = readUpdateRow({ number: 2, fields: { ...NAMED, ...given } }, false);
  expect(read).toMatchObject({ fields: { click_id: "ab".repeat(16), ...fields } });
  expect(read.faults).toEqual(faults);
});

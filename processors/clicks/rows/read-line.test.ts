import fc from "fast-check";
import { expect, test } from "vitest";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { checkRow, readAdIds, readLine, withoutEarnings } from "./read-line.ts";

const TS = Date.UTC(2026, 0, 1);
const ID = "0".repeat(32);

/** In the form in which the bytes of a message are read. */
function latin1(line: string): string {
  return Buffer.from(line).toString("latin1");
}

/** Texts that look like fields that the reader searches for. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    '"offer_id":9',
    ',"ts":1',
    '","gclid":"x',
    "\\",
    '\\"',
    '","may_be_unique":true',
    "}",
  ),
);

test("the reader finds the same fields as a JSON parser, whatever the texts contain", () => {
  const record = fc.record(
    {
      sub1: hostile,
      offer_id: fc.nat(4_294_967_295),
      referrer: hostile,
      affiliate_id: fc.nat(),
      visitor: fc.bigInt(0n, 2n ** 52n - 1n).map(Number),
      may_be_unique: fc.boolean(),
      gclid: hostile,
      destination: hostile,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(record, fc.boolean(), (fields, isFirst) => {
      const head = { click_id: ID, ts: TS };
      const line = latin1(
        JSON.stringify(isFirst ? { ...head, ...fields } : { ...fields, ...head }),
      );
      const { offer_id = 0, affiliate_id = 0, visitor = 0, may_be_unique = false, gclid } = fields;
      expect(readLine(line)).toEqual({
        ts: TS,
        offerId: offer_id,
        affiliateId: affiliate_id,
        visitor,
        mayBeUnique: may_be_unique,
      });
      const written = latin1(JSON.stringify(gclid ?? "").slice(1, -1));
      expect(readAdIds(line)).toEqual(written === "" ? [] : [{ kind: "gclid", written }]);
    }),
    { numRuns: 150 },
  );
});

test.each([
  "",
  "{}",
  "[]",
  "null",
  `{"ts":1}`,
  `{"ts":${TS}`,
  `{"ts":4102444800000}`,
  `{"x":"\\"ts\\":${TS}"}`,
])("%s is not a record", (line) => {
  expect(readLine(line)).toBeUndefined();
});

test("a click without its earnings is otherwise unchanged, and not longer", () => {
  const line = JSON.stringify({ ts: TS, sub1: '"click_payout":"1.0000"', click_payout: "12.5000" });
  const without = withoutEarnings(line);
  expect(JSON.parse(without)).toEqual({ ...JSON.parse(line), click_payout: "0.0000" });
  expect(without.length).toBeLessThanOrEqual(line.length);
});

test("a checked row keeps the writer's columns, and is refused without a valid id", () => {
  const click = { click_id: ID, ts: TS, link_type: "affiliate", status: "redirect" };
  const row = JSON.stringify({ ...click, is_unique: true, _producer: 1, _epoch: 2, _position: 3 });
  const checked: unknown = JSON.parse(checkRow(row, "click") ?? "null");
  expect(checked).toMatchObject({ ...ClickRecord.parse(click), is_unique: true, _position: 3 });
  expect(checkRow(row.replace(ID, "x"), "click")).toBeUndefined();
  expect(checkRow(row.slice(0, -9), "click")).toBeUndefined();
});

test("a checked row of a newer release keeps a field, a link type and a status that are unknown here (P39)", () => {
  const click = { click_id: ID, ts: TS, link_type: "next", status: "next", next_field: "a" };
  const checked: unknown = JSON.parse(checkRow(JSON.stringify(click), "click") ?? "null");
  expect(checked).toMatchObject(click);
});

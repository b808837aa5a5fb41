import fc from "fast-check";
import { expect, test } from "vitest";
import { ClickRecord } from "../schemas/events/click-record.ts";
import { aClick } from "../test/samples/a-click-record.ts";
import { encodeRecord } from "./encode-record.ts";

const texts = ["user_agent", "referrer", "sub1", "city", "destination", "extra"] as const;

test("a record reads back unchanged, defaults included, and contains no line break", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.string({ maxLength: 60 }),
      fc.boolean(),
      fc.nat(),
      (name, text, flag, number) => {
        const record = aClick({
          [name]: text,
          is_bot: flag,
          visitor: number,
          click_payout: "1.5000",
        });
        const line = encodeRecord(record);
        expect(ClickRecord.parse(JSON.parse(line))).toEqual(record);
        expect(line).not.toContain("\n");
      },
    ),
  );
});

test("fields with their default value are left out", () => {
  expect(encodeRecord(aClick({ click_id: "0".repeat(32), ts: 5 }))).toBe(
    `{"click_id":"${"0".repeat(32)}","ts":5,"workspace_id":1,"link_type":"affiliate","status":"redirect","offer_id":4,"affiliate_id":2}`,
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { ClickRecord } from "../schemas/events/click-record.ts";
import { aClick } from "../test/samples/a-click-record.ts";
import { encodeRecord } from "./encode-record.ts";

const texts = ["user_agent", "referrer", "sub1", "city", "destination", "extra"] as const;

test("a record reads back as it was, its defaults filled in again, and holds no line break", () => {
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

test("fields at their default take no room", () => {
  expect(encodeRecord(aClick({ click_id: "0".repeat(32), ts: 5 }))).toBe(
    `{"click_id":"${"0".repeat(32)}","ts":5,"workspace_id":1,"link_type":"affiliate","status":"redirect","offer_id":4,"affiliate_id":2}`,
  );
});

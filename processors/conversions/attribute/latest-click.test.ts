import { expect, test } from "vitest";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { latestClick } from "./latest-click.ts";

function aClick(digit: string, ts: number, offer_id: number): ClickRecord {
  return ClickRecord.parse({
    click_id: digit.repeat(32),
    ts,
    offer_id,
    link_type: "affiliate",
    status: "redirect",
  });
}

test("the named offer's latest click, else the latest with an offer, else the latest (G113)", () => {
  const clicks = [aClick("a", 1, 5), aClick("b", 3, 6), aClick("c", 2, 5), aClick("d", 9, 0)];
  expect(latestClick(clicks, 5)?.click_id[0]).toBe("c");
  expect(latestClick(clicks, 0)?.click_id[0]).toBe("b");
  expect(latestClick(clicks, 7)?.click_id[0]).toBe("b");
  expect(latestClick(clicks.slice(3), 0)?.click_id[0]).toBe("d");
  expect(latestClick([], 0)).toBeUndefined();
});

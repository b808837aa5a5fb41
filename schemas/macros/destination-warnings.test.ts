import { expect, test } from "vitest";
import { destinationWarnings } from "./destination-warnings.ts";

const page = (value: string): string => `https://shop.example/landing?cid=${value}`;

test.each([
  "{click_id}",
  "{click_id}&s=[1,2]&p=50%25",
  "x_{click_id}_{sub1}&json=%7B%22a%22:1%7D",
  "{click_id}#section",
])("%s is as it should be (G245)", (value) => {
  expect(destinationWarnings(page(value))).toEqual([]);
});

test.each([
  ["{{click_id}}", "{click_id}"],
  ["${click_id}", "{click_id}"],
  ["[click_id]", "{click_id}"],
  ["[[click_id]]", "{click_id}"],
  ["(click_id)", "{click_id}"],
  ["<click_id>", "{click_id}"],
  ["%7Bclick_id%7D", "{click_id}"],
  ["%257Bclick_id%257D", "{click_id}"],
  ["%5Bclick_id%5D", "{click_id}"],
  ["%click_id%", "{click_id}"],
  ["$click_id", "{click_id}"],
  ["#click_id#", "{click_id}"],
  ["__CLICK_ID__", "{click_id}"],
  ["{click_id}&s={{sub1}}", "{sub1}"],
  ["{click_id}&s=[sub1]", "{sub1}"],
])("%s warns that %s is what is replaced (G245)", (value, macro) => {
  const [warning, ...others] = destinationWarnings(page(value));
  expect(warning).toContain(`write ${macro}`);
  expect(others).toEqual([]);
});

test("a destination without {click_id} warns once, and an empty one does not (G245)", () => {
  expect(destinationWarnings(page("{sub1}"))).toEqual([
    expect.stringContaining("without {click_id} the advertiser does not get the ID of the click"),
  ]);
  expect(destinationWarnings("")).toEqual([]);
});

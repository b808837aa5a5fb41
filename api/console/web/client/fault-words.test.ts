import { expect, test } from "vitest";
import { faultWords, fieldWords } from "./fault-words.ts";

test.each([
  [
    "expected a plain decimal with at most 14 digits before the point and 4 after it",
    "Enter an amount such as 12.50",
  ],
  ["expected an absolute http or https URL", "Start with https://"],
  ["expected one of active, paused", "Choose one of active, paused"],
  ["expected at most 10 names", "Enter at most 10 names"],
  ["required", "Required"],
  ["", ""],
])("a fault %j of the API is %j to a person (#39)", (fault, words) => {
  expect(faultWords(fault)).toBe(words);
});

test.each([
  ["affiliate_id", "Partner"],
  ["events[0].payout_type", "Payout type"],
  ["countries[3]", "Countries"],
  ["id", "Id"],
])("a field %s that no form shows is called %s (#39)", (path, words) => {
  expect(fieldWords(path)).toBe(words);
});

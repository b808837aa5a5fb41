import { expect, test } from "vitest";
import { clickReasonWords, REASON_CHOICES, reasonWords, valueWords } from "./value-words.ts";

test.each([
  ["fraud:datacenter", "Fraud check: data centre"],
  ["fraud:new_check", "Fraud check: new check"],
  ["rule:Late at night: all", "Rule: Late at night: all"],
  ["rule:partner_blocked", "Partner blocked"],
  ["postback_reversal", "Changed back by the advertiser"],
  ["hold", "On hold"],
  ["", ""],
  ["looks like a copy: see ticket 7", "looks like a copy: see ticket 7"],
  ["fraud:", "fraud:"],
])("the reason %j is read as %j", (reason, words) => {
  expect(reasonWords(reason)).toBe(words);
});

test("each reason of the contract can be chosen by words that are not its code", () => {
  expect(REASON_CHOICES).toHaveLength(22);
  for (const [code, words] of REASON_CHOICES) expect(words).not.toBe(code);
});

test.each([
  ["country", "DE", "Germany"],
  ["method", "s2s", "Server"],
  ["link_type", "transparent", "Link without redirect"],
  ["is_bot", "true", "Yes"],
  ["device_type", "mobile", "Mobile"],
  ["conversion_reason", "fraud:bot", "Fraud check: bot"],
  ["status_reason", "traffic_control", "Traffic rule"],
  ["sub1", "hold", "hold"],
  ["country", "", ""],
])("the value of %s, %j, is read as %j", (dimension, value, words) => {
  expect(valueWords(dimension, value)).toBe(words);
});

test("a reason of clicks that a newer release adds keeps its name", () => {
  expect(clickReasonWords("cap_over")).toBe("Cap reached, alert only");
  expect(clickReasonWords("new_reason")).toBe("New reason");
});

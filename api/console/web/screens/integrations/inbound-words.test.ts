import { expect, test } from "vitest";
import { messageWords, resultWords } from "./inbound-words.ts";

test("results and messages of inbound calls are read in words, and free texts stay", () => {
  expect(resultWords("param")).toBe("Click by its ID");
  expect(resultWords("newer_result")).toBe("Newer result");
  expect(messageWords("postback_update")).toBe("Changed by the advertiser");
  expect(messageWords("fraud:datacenter")).toBe("Fraud check: data centre");
  expect(messageWords("invalid_token")).toBe("Invalid token");
  expect(messageWords("unknown click_id")).toBe("unknown click_id");
  expect(messageWords("")).toBe("");
});

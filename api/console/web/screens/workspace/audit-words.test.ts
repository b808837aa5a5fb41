import { expect, test } from "vitest";
import { auditWords } from "./audit-words.ts";

test.each([
  ["rest POST /api/v1/ad-costs", "Add ad costs", "POST /ad-costs"],
  ["rest PATCH /api/v1/coupons/7", "Change a coupon", "PATCH /coupons/7"],
  ["rest DELETE /api/v1/keys/3", "Revoke an API key", "DELETE /keys/3"],
  ["rest POST /imports rows 1-200", "Import a file rows 1-200", "POST /imports rows 1-200"],
  [
    "rest PATCH /api/v1/offers/9/events/default",
    "Change an event of an offer",
    "PATCH /offers/9/events/default",
  ],
  [
    "rest PATCH /api/v1/conversions/0b54c2f0-6e5a-4a39-9f0c-0d2f0d6f7f11",
    "Decide about a conversion",
    "PATCH /conversions/0b54c2f0-6e5a-4a39-9f0c-0d2f0d6f7f11",
  ],
  ["rest POST /api/v1/new-things", "POST /new-things", ""],
  ["person:signed-in", "Sign in", ""],
  ["person:of-a-later-release", "person:of-a-later-release", ""],
  ["mcp:run_report", "Assistant: run report", ""],
  ["cli person demo-links", "Command line: person demo-links", ""],
  ["something else", "something else", ""],
])("%s says %s", (action, words, raw) => {
  expect(auditWords(action)).toMatchObject({ words, raw });
});

test("an entry names its offer, partner or advertiser by ID, and no other record", () => {
  const recordIn = (path: string) => auditWords(`rest PATCH /api/v1${path}`).record;
  expect(recordIn("/offers/9")).toEqual({ kind: "offer", id: "9" });
  expect(recordIn("/affiliates/6/settings")).toEqual({ kind: "partner", id: "6" });
  expect(recordIn("/advertisers/2")).toEqual({ kind: "advertiser", id: "2" });
  expect(recordIn("/coupons/9")).toBeUndefined();
  expect(recordIn("/offers/CODE")).toBeUndefined();
});

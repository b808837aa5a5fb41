import { expect, test } from "vitest";
import { isAbout } from "./about-record.ts";

test("a record and its parts are about it, one whose ID begins alike is not", () => {
  expect(isAbout("rest PATCH /api/v1/offers/7", "/offers/7")).toBe(true);
  expect(isAbout("rest POST /api/v1/offers/7/events", "/offers/7")).toBe(true);
  expect(isAbout("rest PATCH /api/v1/offers/71", "/offers/7")).toBe(false);
  expect(isAbout("rest PATCH /api/v1/affiliates/7", "/offers/7")).toBe(false);
});

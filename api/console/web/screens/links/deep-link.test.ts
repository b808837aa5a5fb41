import { expect, test } from "vitest";
import { deepLinkFault, withDeepLink } from "./deep-link.ts";

test("a page is encoded once, behind the sub IDs (#39)", () => {
  expect(withDeepLink("https://t.example/r/A/B", "https://shop.example/?a=1&b=ü")).toBe(
    "https://t.example/r/A/B?url=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D%C3%BC",
  );
  expect(withDeepLink("https://t.example/r/A/B?sub1=x", "https://shop.example/")).toBe(
    "https://t.example/r/A/B?sub1=x&url=https%3A%2F%2Fshop.example%2F",
  );
  expect(withDeepLink("https://t.example/r/A/B", "")).toBe("https://t.example/r/A/B");
});

test.each([
  ["", undefined],
  [" https://shop.example/shoes ", undefined],
  ["shop.example", "Start with https://"],
  ["javascript:alert(1)", "Start with https://"],
  ["https://a b/", "Start with https://"],
  ["https://user:secret@shop.example/", "Leave out the user name and password"],
])("a page typed as %j is refused with %j before it is copied (#39)", (page, fault) => {
  expect(deepLinkFault(page)).toBe(fault);
});

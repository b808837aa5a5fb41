import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aClickService, answerLine, recordOf } from "../../test/samples/a-click-service.ts";
import { anyText } from "../../test/samples/any-text.ts";
import { straightened } from "./pasted-link.ts";

const SHOP_URL = encodeURIComponent("https://shop.example/p?a=1");
const smartLinks = [
  { code: "BEST", rules: [{ name: "", conditions: {}, offers: [{ offer_id: 1, weight: 1 }] }] },
];

describe("a link that text or a program changed is found and recorded (G241)", () => {
  const service = aClickService({ smartLinks });

  test.each([
    ...["/", "//", ".", ",", ")", ").", "%29", "%2C", ";", "!", "'", "%22", "%3E", "]", "%20"].map(
      (behind) => `/r/SHOP/PART01${behind}`,
    ),
    "/r/SHOP/PART01%E2%80%8B",
    "/r/SHOP/%EF%BB%BFPART01",
    "/r/SH%C2%ADOP/PART01%C2%A0",
    "/r/SHOP/PART01%E2%80%9D",
    "/r/SHOP/PART01%E2%80%A6",
    "/r//SHOP/PART01",
    "/c/SHOP-PART01/",
    "/c/SHOP-PART01)",
    "/s/BEST-PART01,",
    "/s/BEST?aid=PART01.",
    "/click?oid=SHOP&aid=PART01)",
    "/click?oid=SHOP%E2%80%8B&aid=PART01/",
    "/click?oid=SHOP&amp;aid=PART01",
    "/click?amp;oid=SHOP&amp;amp;aid=PART01",
  ])("%s", (target) => {
    const url = target.startsWith("/c/") ? `?url=${SHOP_URL}` : "";
    const result = service.ask(`${target}${url}`);
    expect(result.answer.status).toBe(302);
    expect(recordOf(result)).toMatchObject({ offer_id: 1, affiliate_id: 1, status: "redirect" });
  });

  test.each([
    "/r/SHOP/PART01&sub1=a%26b&sub2=y",
    "/r/SHOP/PART01&amp;sub1=a%26b&amp;sub2=y",
    "/r/SHOP/PART01&sub1=a%26b?sub2=y",
    "/r/SHOP/PART01%3Fsub1%3Da%2526b%26sub2%3Dy",
    "/r/SHOP/PART01?sub1=a%26b&amp;sub2=y",
    "/r/SHOP/PART01??sub1=a%26b&sub2=y",
    "/c/SHOP-PART01?sub1=a%26b&amp;sub2=y",
    "/c/SHOP-PART01&sub1=a%26b&sub2=y",
  ])("%s keeps its parameters", (target) => {
    const url = target.startsWith("/c/") ? `&amp;url=${SHOP_URL}` : "";
    const result = service.ask(`${target}${url}`);
    expect(recordOf(result)).toMatchObject({ sub1: "a&b", sub2: "y", extra: "", offer_id: 1 });
  });

  test("&amp;url= is the destination, exactly as url= is", () => {
    for (const path of ["/c/SHOP-PART01?gclid=x", "/r/SHOP/PART01?sub1=x", "/r/SHOP/PART01&sub1=x"])
      expect(answerLine(service.ask(`${path}&amp;url=${SHOP_URL}`)), path).toBe(
        "302 https://shop.example/p?a=1",
      );
    const filler = "&a=1".repeat(300);
    expect(answerLine(service.ask(`/c/SHOP-PART01?${filler}&amp;url=${SHOP_URL}`))).toBe(
      "302 https://shop.example/p?a=1",
    );
    expect(answerLine(service.ask(`/c/SHOP-PART01?url=${SHOP_URL}&amp;url=x`))).toBe(
      '403 {"error":"duplicate_url"}',
    );
  });

  test("an impression is counted too", () => {
    for (const target of ["/i/SHOP/PART01.", "/i/SHOP/PART01&sub1=x"])
      expect(service.ask(target).recorded, target).toBeDefined();
  });

  test("a code that exists as it was sent wins", () => {
    const offers = [
      { id: 1, code: "SHOP" },
      { id: 2, code: "SHOP." },
    ];
    const affiliates = [
      { id: 1, code: "PART01" },
      { id: 2, code: "PART01." },
    ];
    const both = aClickService({ offers, affiliates });
    expect(recordOf(both.ask("/r/SHOP./PART01."))).toMatchObject({ offer_id: 2, affiliate_id: 2 });
  });

  test.each(["/r/NONE/PART01.", "/r/SHOP", "/r/SHOP/NONE&sub1=x", "/click?oid=SHOP&aid=."])(
    "%s stays unknown",
    (target) => {
      expect(answerLine(service.ask(target))).toBe('404 {"error":"unknown_link"}');
    },
  );
});

describe("the straight form of a path (G241)", () => {
  test.each([
    ["//r/SHOP/PART01", "", "/r/SHOP/PART01", ""],
    ["/R/SHOP/PART01", "a=1", "/r/SHOP/PART01", "a=1"],
    ["/pb/", "click_id=1", "/pb", "click_id=1"],
    ["/PB&click_id=1", "", "/pb", "click_id=1"],
    ["/px.gif/", "", "/px.gif", ""],
    ["/click/", "oid=a", "/click", "oid=a"],
    ["/r/A_/B~", "", undefined, ""],
    ["/r/SHOP/PART01", "a=1", undefined, ""],
    ["//", "", undefined, ""],
    ["/", "", undefined, ""],
  ])("%s?%s", (path, query, straightPath, straightQuery) => {
    const straight = straightened({ path, query });
    expect(straight).toEqual(
      straightPath === undefined ? undefined : { path: straightPath, query: straightQuery },
    );
  });

  test("a straight form is final: it has none of its own", () => {
    fc.assert(
      fc.property(anyText(), anyText(), (path, query) => {
        const straight = straightened({ path: `/${path}`, query });
        expect(straight === undefined ? undefined : straightened(straight)).toBeUndefined();
      }),
    );
  });
});

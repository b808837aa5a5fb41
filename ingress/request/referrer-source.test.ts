import { expect, test } from "vitest";
import { referrerSource } from "./referrer-source.ts";

const PAGE = "https://www.shop.example/a/b?c=d#e";

test.each([
  ["https://www.google.com/", "google", "www.google.com"],
  ["https://google.de/search", "google", "google.de"],
  ["https://www.bing.com/search?q=x", "bing", "www.bing.com"],
  ["https://m.facebook.com/", "facebook", "m.facebook.com"],
  ["https://x.com/someone", "x", "x.com"],
  ["https://t.co/abc", "x", "t.co"],
  ["https://blog.example/post", "referral", "blog.example"],
  ["https://notgoogle.com/", "referral", "notgoogle.com"],
  ["https://google.com.evil.example/", "referral", "google.com.evil.example"],
  ["https://www.shop.example/other", "direct", ""],
  ["", "direct", ""],
  ["android-app://com.example", "direct", ""],
  ["no url", "direct", ""],
])("a visit from %j comes from %s (SDK-008, LP-018)", (referrer, platform, host) => {
  expect(referrerSource(referrer, PAGE)).toEqual({ platform, host, path: "/a/b" });
});

test("an invalid page URL has no path (LP-018)", () => {
  expect(referrerSource("", "file:///etc/x")).toEqual({ platform: "direct", host: "", path: "" });
});

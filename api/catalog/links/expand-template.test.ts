import { expect, test } from "vitest";
import { expandLandingPage, expandTemplate } from "./expand-template.ts";

const PAGE = "https://s.example/?a=1&b=ü";
const ONCE = encodeURIComponent(PAGE);

test.each([
  ["https://t/c/K?url={lpurl}", `https://t/c/K?url=${ONCE}`],
  ["https://t/c/K?url={escapedlpurl}", `https://t/c/K?url=${ONCE}`],
  ["https://t/c/K?url={lpurl+2}", `https://t/c/K?url=${encodeURIComponent(ONCE)}`],
  [
    "https://t/c/K?url={escapedlpurl+3}",
    `https://t/c/K?url=${encodeURIComponent(encodeURIComponent(ONCE))}`,
  ],
  ["https://t/c/K?url={unescapedlpurl}", `https://t/c/K?url=${PAGE}`],
  ["{lpurl}&x={gclid}", `${PAGE}&x=template-test`],
  ["a={gclid}&b={_own}&c={ignore}&d={unknown}", "a=template-test&b=&c=&d=template-test"],
  ["a={ifmobile:m}&b={ifnotmobile:d}&c={ifsearch:s:1}&d={ifcontent:c}", "a=&b=d&c=s:1&d="],
])("%s expands to %s (G185)", (template, url) => {
  expect(expandTemplate(template, PAGE, "adplatform_a")).toBe(url);
});

test("tags of platform b ignore letter case (G185)", () => {
  const template = "x={IfNotMobile:d}&url={LpUrl}";
  expect(expandTemplate(template, PAGE, "adplatform_b")).toBe(`x=d&url=${ONCE}`);
});

test.each([
  ["https://s/", "", "https://s/"],
  ["https://s/", "a={keyword}", "https://s/?a=template-test"],
  ["https://s/?x#top?", "a=1", "https://s/?x&a=1#top?"],
])("the landing page of %s with suffix %j is %s", (finalUrl, suffix, page) => {
  expect(expandLandingPage(finalUrl, suffix, "adplatform_a")).toBe(page);
});

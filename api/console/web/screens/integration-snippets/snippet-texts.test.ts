import { expect, test } from "vitest";
import {
  clickParameterIn,
  pixelMarkup,
  postbackAddress,
  scriptCall,
  scriptMarkup,
} from "./snippet-texts.ts";

const TARGET = {
  origin: "https://track.example",
  token: "secret",
  offerCode: "SHOP",
  eventCode: "default",
  hasAmount: false,
  currency: "EUR",
  clickParameter: undefined,
};

test("the address of a postback names the token, the click and the order (#39)", () => {
  expect(postbackAddress(TARGET)).toBe(
    "https://track.example/pb?token=secret&click_id=CLICK_ID&txid=ORDER_ID",
  );
});

test("an event that is not the default is named, and a percentage of the sale asks for the amount (#39)", () => {
  expect(postbackAddress({ ...TARGET, eventCode: "sign.up", hasAmount: true })).toBe(
    "https://track.example/pb?token=secret&click_id=CLICK_ID&event=sign.up&txid=ORDER_ID&amount=AMOUNT&currency=EUR",
  );
});

test("no snippet of a page contains the token, which a visitor could read (#39)", () => {
  const pages = [pixelMarkup(TARGET), scriptMarkup(TARGET), scriptCall(TARGET)].join("\n");
  expect(pages).not.toContain("secret");
  expect(pages).toContain("/px?click_id=CLICK_ID&amp;txid=ORDER_ID");
  expect(pages).toContain('Tracker.conversion({ txid: "ORDER_ID" });');
});

test("a code with markup stays text in the snippets (#39)", () => {
  const odd = { ...TARGET, offerCode: '"><script>', eventCode: "</script>" };
  expect(scriptMarkup(odd)).toContain('data-offer="&quot;&gt;&lt;script&gt;"');
  expect(scriptCall(odd).match(/<\/script>/g)).toHaveLength(1);
});

test.each([
  ["https://shop.example/?cid={click_id}&a=1", "cid"],
  ["https://shop.example/?a=1&click_id={click_id}", "click_id"],
  ["https://shop.example/", undefined],
  [undefined, undefined],
])("the click ID arrives at %s as %s (#39)", (destination, name) => {
  expect(clickParameterIn(destination)).toBe(name);
});

test("the script learns the parameter of the click ID unless it knows the name (#39)", () => {
  expect(scriptMarkup({ ...TARGET, clickParameter: "cid" })).toContain('data-param="cid"');
  expect(scriptMarkup({ ...TARGET, clickParameter: "tid" })).not.toContain("data-param");
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../test/samples/any-text.ts";
import { htmlPostback } from "./html-postback.ts";
import type { PostbackSource } from "./postbacks.ts";

const DELIVERY = {
  id: "0f9cbb7e-1111-4222-8333-0123456789ab",
  request_id: null,
  trigger: "approved",
  created_at: "2026-01-02T03:04:05.678Z",
  facts: {
    status: "approved",
    reason: "",
    payout: "10.0000",
    sale_amount: "0.0000",
    old_status: "",
    old_payout: "0.0000",
    payout_delta: "10.0000",
  },
};
const SOURCE: PostbackSource = {
  delivery_id: DELIVERY.id,
  kind: "html",
  method: "GET",
  url: "https://p.example/",
  body: "",
  postback_status: "active",
  created_by_affiliate: true,
  is_rejected: false,
  is_private: false,
  conversion_id: "c1",
  click_id: "k1",
  event_code: "sale",
  offer_id: 7,
  offer_code: "SHOP",
  offer_name: "Shop",
  affiliate_id: 3,
  affiliate_code: "ANNA",
  currency: "USD",
  adv_txid: "t-1",
  conv_ip: null,
  click_ts: null,
  conv_ts: "2026-01-02T03:04:05.000Z",
  click: {},
  params: { adv1: "v" },
};
const html = (body: string, fields: Partial<PostbackSource> = {}): string =>
  htmlPostback(DELIVERY, { ...SOURCE, body, ...fields });

test("the body is the HTML, with its macros expanded and everything else unchanged (PBO-032, PBO-021)", () => {
  const body = "<img src=\"https://p.example/?c={click_id}&p={payout}&s={sub1}&{other}\" alt=''>";
  expect(html(body, { click: { sub1: "a b&c" } })).toBe(
    "<img src=\"https://p.example/?c=k1&p=10.0000&s=a%20b%26c&{other}\" alt=''>",
  );
});

test("without a body the page gets an image of the URL (PBO-032)", () => {
  expect(html(" ", { url: 'https://p.example/?a={click_id}&b="><script>' })).toBe(
    '<img src="https://p.example/?a=k1&#38;b=&#34;&#62;&#60;script&#62;" width="1" height="1" alt="">',
  );
});

test("macros that are not for partners stay empty in their HTML (G125)", () => {
  const body = "{txid}{adv1}{affiliate_code}";
  expect(html(body)).toBe("{txid}{adv1}ANNA");
  expect(html(body, { created_by_affiliate: false })).toBe("t-1vANNA");
});

test.each([
  "</script><script>alert(1)</script>",
  "\"><img src=x onerror='alert(1)'>",
  "' onload='alert(1)",
  "javascript:alert(1)",
  "${alert(1)}`-alert(1)-`",
  "\\u003cscript\\u003e --><!-- ]]> &lt;script&gt;",
])("a sub id cannot end the text around it: %s", (sub1) => {
  const body = `<a href={sub1} title='{sub1}'>{sub1}</a><script>var a = "{sub1}";</script><!--{sub1}-->`;
  const around = body.split("{sub1}");
  const carried = html(body, { click: { sub1 } });
  const value = carried.slice(around[0]?.length, carried.indexOf(" title="));
  expect(carried).toBe(around.join(value));
  expect(value).toMatch(/^[\w.~%-]+$/);
  expect(decodeURIComponent(value)).toBe(sub1);
});

test("any sub id becomes letters, digits, percent signs and -_.~", () => {
  fc.assert(
    fc.property(anyText(), (sub1) => {
      const value = html("<i>{sub1}</i>", { click: { sub1 } }).slice(3, -4);
      expect(value).toMatch(/^[\w.~%-]*$/);
      expect(decodeURIComponent(value)).toBe(Buffer.from(sub1).toString());
    }),
  );
});

import { describe, expect, test } from "vitest";
import { aClickService, headerOf, recordOf } from "../../test/samples/a-click-service.ts";
import type { RawRequest } from "../route.ts";

const SHOP_URL = encodeURIComponent("https://shop.example/p?a=1");

describe("requests whose answer nobody sees", () => {
  const UNSEEN: [string, Partial<RawRequest["headers"]>][] = [
    ["Sec-Purpose: prefetch", { purpose: "prefetch" }],
    ["Sec-Purpose: prefetch;prerender", { purpose: "prefetch;prerender" }],
    ["Purpose: Prefetch, after another purpose", { purpose: "other,Prefetch" }],
    ["X-Purpose: preview", { purpose: "preview" }],
    ...["image", "script", "style", "iframe", "frame", "object", "video", "font"].map(
      (secFetchDest): [string, Partial<RawRequest["headers"]>] => [
        `Sec-Fetch-Dest: ${secFetchDest}`,
        { secFetchDest },
      ],
    ),
  ];
  const cpc = {
    payout_type: "cpc",
    payout: "0.5000",
    revenue_type: "rpc",
    revenue: "1.0000",
  } as const;
  const PATHS = ["/r/SHOP/PART01?x=1", "/click?oid=SHOP&aid=PART01", "/s/BEST-PART01?x=1"];

  test.each(UNSEEN)(
    "%s is recorded as a bot, never unique, unpaid and without cookie (G240)",
    (_name, headers) => {
      const smartLinks = [
        {
          code: "BEST",
          rules: [{ name: "", conditions: {}, offers: [{ offer_id: 1, weight: 1 }] }],
        },
      ];
      const service = aClickService({ offers: [cpc], smartLinks });
      for (const path of PATHS) {
        for (const target of [path, `${path}&url=${SHOP_URL}`]) {
          const result = service.ask(target, { headers });
          expect(result.answer.status, target).toBe(302);
          expect(headerOf(result, "Set-Cookie"), target).toBeUndefined();
          expect(recordOf(result), target).toMatchObject({
            status: "redirect",
            is_bot: true,
            may_be_unique: false,
            click_payout: "0.0000",
            click_revenue: "0.0000",
            device_type: "desktop",
          });
        }
      }
      const transparent = service.ask(`/c/SHOP-PART01?url=${SHOP_URL}`, { headers });
      expect(headerOf(transparent, "Set-Cookie")).toMatch(/^trk_cid=/);
      expect(recordOf(transparent)).toMatchObject({ is_bot: false, click_payout: "0.5000" });
    },
  );

  test.each([{ secFetchDest: "document" }, { secFetchDest: "empty" }, { purpose: "other" }])(
    "a visit (%j) is no such request",
    (headers) => {
      const result = aClickService().ask("/r/SHOP/PART01", { headers });
      expect(recordOf(result)).toMatchObject({ is_bot: false, may_be_unique: true });
      expect(headerOf(result, "Set-Cookie")).toMatch(/^trk_cid=/);
    },
  );

  test("they do not make the visit that follows a duplicate, and HEAD does not either (G240, G145)", () => {
    const service = aClickService({ offers: [{ duplicate_click_seconds: 60 }] });
    service.ask("/r/SHOP/PART01", { headers: { purpose: "prefetch" } });
    service.ask("/r/SHOP/PART01", { method: "HEAD" });
    const reasons = [1, 2].map(() => recordOf(service.ask("/r/SHOP/PART01")).status_reason);
    expect(reasons).toEqual(["", "duplicate"]);
  });
});

import { expect, test } from "vitest";
import { ImpressionRecord } from "../../schemas/events/click-record.ts";
import { aClickService, headerOf } from "../../test/samples/a-click-service.ts";

test("the GIF, and a record of the offer and the partner without a click (IMP-001, IMP-002, IMP-004)", () => {
  const result = aClickService().ask(
    "/i/SHOP/PART01?sub1=a&cid=banner&kw=x&utm_source=mail&foo=bar",
  );
  expect(result.answer.status).toBe(200);
  expect(headerOf(result, "Content-Type")).toBe("image/gif");
  expect(Buffer.from(result.answer.body).subarray(0, 6).toString()).toBe("GIF89a");
  expect([headerOf(result, "Set-Cookie"), headerOf(result, "Location")]).toEqual([
    undefined,
    undefined,
  ]);
  expect(result.recorded).toMatchObject({ lane: 100 });
  expect(ImpressionRecord.parse(JSON.parse(result.recorded?.line ?? ""))).toMatchObject({
    workspace_id: 1,
    offer_id: 1,
    advertiser_id: 1,
    affiliate_id: 1,
    country: "DE",
    device_type: "desktop",
    sub1: "a",
    ext_keyword: "x",
    traffic_source: "mail",
    creative_id: "banner",
    domain: "trk.example",
  });
});

test.each(["/i/none/PART01", "/i/SHOP/none", "/i/SHOP/"])(
  "%s gets the GIF and counts nothing (IMP-003)",
  (target) => {
    const result = aClickService().ask(target);
    expect([result.answer.status, result.recorded]).toEqual([200, undefined]);
    expect(headerOf(result, "Content-Type")).toBe("image/gif");
  },
);

import { describe, expect, test } from "vitest";
import type { CatalogParts } from "../../test/samples/a-catalog.ts";
import { aClickService, headerOf, recordOf } from "../../test/samples/a-click-service.ts";
import { aRequestFor } from "../../test/samples/a-request.ts";
import { DESKTOP_CHROME } from "../../test/samples/user-agents.ts";
import type { RouteResult } from "../route.ts";
import { serverClickRoutes } from "./server-click.ts";

const VISITOR = `ip=198.51.100.9&user_agent=${encodeURIComponent(DESKTOP_CHROME)}`;
const ASK = `/clk?oid=SHOP&affid=PART01&token=workspace-token&${VISITOR}`;

const bodyOf = (result: RouteResult): unknown => JSON.parse(String(result.answer.body));

async function post(
  body: string,
  contentType: string,
  options: { parts?: CatalogParts; query?: string } = {},
): Promise<RouteResult> {
  const [route] = serverClickRoutes(aClickService(options.parts).deps);
  if (route === undefined) throw new Error("no route");
  const request = aRequestFor(`/clk?${options.query ?? ""}`, {
    method: "POST",
    headers: { contentType },
  });
  return await route.route(request, Buffer.from(body), AbortSignal.timeout(500));
}

test("GET answers the click's id as JSON with 200, without redirect or cookie (CLKS-001, CLKS-005)", () => {
  const result = aClickService().ask(ASK);
  const record = recordOf(result);
  expect(bodyOf(result)).toEqual({
    transaction_id: record.click_id,
    offer_id: 1,
    affiliate_id: 1,
    error_code: 0,
  });
  expect(result.answer.status).toBe(200);
  expect([headerOf(result, "Location"), headerOf(result, "Set-Cookie")]).toEqual([
    undefined,
    undefined,
  ]);
  expect(headerOf(result, "Content-Type")).toContain("application/json");
  expect(record).toMatchObject({ link_type: "server", status: "redirect", destination: "" });
});

test("the parameters describe the visitor; subs and extra are kept (CLKS-003, CLKS-004, CLKS-018)", () => {
  const headers = { userAgent: "curl/8", via: "1.1 x", acceptLanguage: "de" };
  const record = recordOf(aClickService().ask(`${ASK}&sub1=a&s2=b&foo=bar`, { headers }));
  expect(record).toMatchObject({
    ip: "198.51.100.9",
    country: "US",
    device_type: "desktop",
    browser: "Chrome",
    is_bot: false,
    is_proxy: false,
    language: "",
    sub1: "a",
    sub2: "b",
    extra: '{"foo":"bar"}',
  });
});

test.each(["999.1.1.1", "none", "", "10.0.0"])(
  "the invalid ip %j is ignored (CLKS-003, G156)",
  (ip) => {
    const target = `/clk?oid=SHOP&affid=PART01&token=workspace-token&ip=${ip}`;
    expect(recordOf(aClickService().ask(target)).ip).toBe("192.0.2.1");
  },
);

test.each([
  ["offer", "affid"],
  ["offer_id", "aid"],
  ["oid", "aff"],
  ["oid", "aff_id"],
])("%s and %s name the offer and the partner, by code or id (CLKS-001, G156)", (offer, partner) => {
  for (const [code, name] of [
    ["SHOP", "PART01"],
    ["1", "1"],
  ] as const) {
    const target = `/clk?${offer}=${code}&${partner}=${name}&token=workspace-token`;
    expect(bodyOf(aClickService().ask(target))).toMatchObject({ offer_id: 1, error_code: 0 });
  }
});

test("numbers of a JSON body keep their digits (CLKS-004, G218)", async () => {
  const json = `{"oid":"SHOP","affid":"PART01","token":"workspace-token","sub1":7300000000000000001,"sub2":10.50,"foo":1.0}`;
  expect(recordOf(await post(json, "application/json"))).toMatchObject({
    sub1: "7300000000000000001",
    sub2: "10.50",
    extra: '{"foo":"1.0"}',
  });
});

test("POST takes a form or JSON, and the body wins over the query (CLKS-001)", async () => {
  const form = await post(
    `oid=SHOP&affid=PART01&token=workspace-token&sub1=body&${VISITOR}`,
    "application/x-www-form-urlencoded",
    { query: "sub1=query&sub2=q" },
  );
  expect(recordOf(form)).toMatchObject({ sub1: "body", sub2: "q", ip: "198.51.100.9" });
  const json = JSON.stringify({
    offer_id: 1,
    aff_id: 1,
    token: "workspace-token",
    sub1: "\ud800x",
    sub3: true,
    sub4: { a: 1 },
    sub5: null,
  });
  const result = await post(json, "application/json");
  expect(recordOf(result)).toMatchObject({
    offer_id: 1,
    sub1: "\ufffdx",
    sub3: "true",
    sub4: "",
    sub5: "",
  });
});

const DEEP = `{"token":"workspace-token","x":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;

test("JSON that is too deep is a missing token, never a failure (G213)", async () => {
  expect(bodyOf(await post(DEEP, "application/json"))).toMatchObject({ error_code: 1 });
});

test.each(["{", "[]", "null", '"x"', "", "\u0000"])(
  "a body such as %j is a missing token, never a failure",
  async (body) => {
    expect(bodyOf(await post(body, "application/json"))).toMatchObject({ error_code: 1 });
  },
);

const foreign: CatalogParts = {
  advertisers: [{ id: 1 }, { id: 2, postback_token: "other-token" }],
  offers: [{ id: 1 }, { id: 2, code: "THEIRS", advertiser_id: 2 }],
};

describe("codes 1 to 3 record nothing (CLKS-016)", () => {
  test.each<[number, string, CatalogParts]>([
    [1, "oid=SHOP&affid=PART01&token=x", {}],
    [1, "oid=SHOP&affid=PART01", {}],
    [1, "oid=THEIRS&affid=PART01&token=advertiser-token", foreign],
    [1, "oid=SHOP&affid=PART01&token=advertiser-token", { advertisers: [{ status: "paused" }] }],
    [
      1,
      "oid=SHOP&affid=PART01&token=shared",
      { advertisers: [{ postback_token: "shared" }, { id: 2, postback_token: "shared" }] },
    ],
    [2, "oid=zz&affid=PART01&token=workspace-token", {}],
    [1, "oid=SHOP&affid=PART01&token=", {}],
    [2, "affid=PART01&token=workspace-token", {}],
    [2, "oid=&affid=PART01&token=workspace-token", {}],
    [3, "oid=SHOP&token=workspace-token", {}],
    [3, "oid=SHOP&affid=zz&token=workspace-token", {}],
  ])("code %i for %s (CLKS-006, CLKS-007, CLKS-008, CLKS-017, T65)", (code, query, parts) => {
    const result = aClickService(parts).ask(`/clk?${query}`);
    expect(bodyOf(result)).toEqual({
      transaction_id: "",
      offer_id: 0,
      affiliate_id: 0,
      error_code: code,
    });
    expect([result.recorded, result.answer.status]).toEqual([undefined, 200]);
  });
});

describe("codes 4 to 10 are recorded as fallback clicks (CLKS-016)", () => {
  test.each<[string, number, string, CatalogParts]>([
    ["CLKS-009", 4, "paused", { offers: [{ status: "paused" }] }],
    ["CLKS-009", 4, "paused", { advertisers: [{ status: "inactive" }] }],
    [
      "CLKS-009",
      4,
      "paused",
      { offers: [{ targeting: { schedule: { starts_at: "2030-01-01" } } }] },
    ],
    ["CLKS-010", 5, "not_approved", { offers: [{ visibility: "approval" }] }],
    ["CLKS-010", 5, "not_approved", { offers: [{ terms: "Be good." }] }],
    ["CLKS-011", 6, "targeting", { offers: [{ targeting: { countries_allow: ["DE"] } }] }],
    ["CLKS-012", 7, "cap", { offers: [{ caps: { clicks: { total: 0 } } }] }],
    ["CLKS-013", 8, "workspace_inactive", { workspaces: [{ status: "inactive" }] }],
    ["CLKS-014", 9, "traffic_control", { controls: [{}] }],
    [
      "CLKS-014",
      9,
      "traffic_control",
      {
        offers: [{}, { id: 2, code: "NEXT" }],
        controls: [{ action: "forward", forward_offer_id: 2 }],
      },
    ],
  ])("%s code %i, %s", (_id, code, reason, parts) => {
    const result = aClickService(parts).ask(ASK);
    const record = recordOf(result);
    expect(bodyOf(result)).toEqual({
      transaction_id: record.click_id,
      offer_id: 1,
      affiliate_id: 1,
      error_code: code,
    });
    expect(record).toMatchObject({
      status: "fallback",
      status_reason: reason,
      link_type: "server",
      offer_id: 1,
    });
  });

  test("the first click of the process counts for the second (CLKS-012, CLKS-015)", () => {
    const rule = aClickService({ offers: [{ duplicate_click_seconds: 60 }] });
    expect(bodyOf(rule.ask(ASK))).toMatchObject({ error_code: 0 });
    expect(bodyOf(rule.ask(ASK))).toMatchObject({ error_code: 10 });
    const cap = aClickService({ offers: [{ caps: { clicks: { hourly: 1 } } }] });
    expect([bodyOf(cap.ask(ASK)), bodyOf(cap.ask(ASK))]).toMatchObject([
      { error_code: 0 },
      { error_code: 7 },
    ]);
  });
});

test("an advertiser's token works for its own offers (CLKS-017)", () => {
  const result = aClickService().ask(ASK.replace("workspace-token", "advertiser-token"));
  expect(bodyOf(result)).toMatchObject({ error_code: 0 });
});

test("a host of another workspace does not know the offer", () => {
  const parts: CatalogParts = {
    workspaces: [{}, { id: 2, slug: "two", postback_token: "two" }],
    domains: [{ workspace_id: 2, host: "two.example" }],
  };
  const result = aClickService(parts).ask(ASK, { headers: { host: "two.example" } });
  expect(bodyOf(result)).toMatchObject({ error_code: 2 });
});

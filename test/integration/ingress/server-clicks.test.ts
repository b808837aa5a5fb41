import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { FIREFOX } from "../../samples/user-agents.ts";
import { type Answer, headerOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  ClickPathsWorld,
  GERMAN_IP,
  PARTNER,
  type Tenant,
} from "./click-paths-world.ts";

const Body = z.strictObject({
  transaction_id: z.string(),
  offer_id: z.int(),
  affiliate_id: z.int(),
  error_code: z.int().min(0).max(10),
});
type Body = z.infer<typeof Body>;
const Row = z.record(z.string(), z.unknown());
const Single = z.object({ data: z.object({ click: Row, extra: Row }) });
const Page = z.object({ data: z.array(Row) });

/** Of the caller, whose own address and program say nothing about the visitor. */
const CALLER: Asking = { ip: "203.0.113.50", userAgent: "curl/8.5.0" };

let world: ClickPathsWorld;
let main: Tenant;
let sleeping: Tenant;
let shopId = 0;

beforeAll(async () => {
  world = await ClickPathsWorld.open();
  main = await world.addTenant("main", { default_fallback_url: "https://ws.example/" });
  sleeping = await world.addTenant("sleeping", { status: "inactive" });
  shopId = await world.addOffer(main, "SHOP");
  await world.untilCurrent();
});
afterAll(() => world.close());

function bodyOf(answer: Answer): Body {
  expect(answer.status).toBe(200);
  return Body.parse(JSON.parse(answer.body));
}

/** Asks for a click of the main workspace on SHOP by the partner; each parameter can be another one. */
async function ask(
  params: Record<string, string> = {},
  asking: Asking = {},
): Promise<{ answer: Answer; body: Body }> {
  const query = new URLSearchParams({
    oid: "SHOP",
    affid: PARTNER,
    token: main.postbackToken,
    ...params,
  });
  const answer = await world.ask(`/clk?${query}`, { ...CALLER, ...asking });
  return { answer, body: bodyOf(answer) };
}

async function post(contentType: string, body: string, query = ""): Promise<Body> {
  const headers = { "content-type": contentType };
  return bodyOf(await world.ask(`/clk${query}`, { ...CALLER, method: "POST", headers, body }));
}

async function detailOf(id: string): Promise<z.infer<typeof Single>["data"]> {
  return Single.parse(await world.rest(`/clicks/${id}`, main.adminKey)).data;
}

/** Clicks of the workspace that a query selects, as the list has them at once. */
async function listed(query: string): Promise<Record<string, unknown>[]> {
  return Page.parse(await world.rest(`/clicks?${query}`, main.adminKey)).data;
}

describe("a click that is told by a server", () => {
  test("GET and POST, as query, form and JSON, get the id of a new click (CLKS-001)", async () => {
    const ok = { offer_id: shopId, affiliate_id: main.affiliateId, error_code: 0 };
    const token = main.postbackToken;
    const bodies = [
      (await ask()).body,
      (await ask({}, { method: "POST" })).body,
      await post("application/x-www-form-urlencoded", `oid=SHOP&affid=${PARTNER}&token=${token}`),
      await post("application/json", JSON.stringify({ oid: "SHOP", affid: PARTNER, token })),
      await post("application/json", JSON.stringify({ token }), `?oid=SHOP&affid=${PARTNER}`),
    ];
    expect(bodies).toEqual(bodies.map(({ transaction_id }) => ({ transaction_id, ...ok })));
    expect(new Set(bodies.map(({ transaction_id }) => transaction_id)).size).toBe(bodies.length);
  });

  test.each([
    ["offer", "affid"],
    ["offer_id", "aid"],
    ["oid", "aff"],
    ["oid", "aff_id"],
  ])(
    "%s and %s name the offer and the partner too, by code or id (CLKS-001, G156)",
    async (offer, partner) => {
      for (const [code, name] of [
        ["SHOP", PARTNER],
        [String(shopId), String(main.affiliateId)],
      ] as const) {
        const query = new URLSearchParams({ [offer]: code, [partner]: name });
        const answer = await world.ask(`/clk?${query}&token=${main.postbackToken}`, CALLER);
        expect(bodyOf(answer)).toMatchObject({ offer_id: shopId, error_code: 0 });
      }
    },
  );

  test("the transaction id is 32 hex and converts as click_id in /pb at once (CLKS-002)", async () => {
    const { body } = await ask({ sub1: "converts" });
    expect(body.transaction_id).toMatch(/^[0-9a-f]{32}$/);
    const report = await world.report(`click_id=${body.transaction_id}`, main);
    expect(report).toMatchObject({ ok: true, status: "approved" });
    const again = await world.report(`transaction_id=${body.transaction_id}`, main);
    expect(again).toMatchObject({ ok: true, duplicate: true });
  });

  test("place, device and stored address are those of the parameters, not of the caller (CLKS-003)", async () => {
    const { body } = await ask({ ip: AMERICAN_IP, user_agent: FIREFOX });
    const { click } = await detailOf(body.transaction_id);
    expect(click).toMatchObject({
      ip: AMERICAN_IP,
      country: "US",
      user_agent: FIREFOX,
      browser: "Firefox",
      device_type: "desktop",
      is_bot: false,
    });
  });

  test.each(["999.1.1.1", "none", "", "10.0.0"])(
    "an ip that is none (%j) is ignored: the caller's counts (CLKS-003, G156)",
    async (ip) => {
      const { body } = await ask({ ip, user_agent: FIREFOX });
      expect((await detailOf(body.transaction_id)).click).toMatchObject({ ip: CALLER.ip ?? "" });
    },
  );

  test("sub IDs are stored, by their aliases too (CLKS-004)", async () => {
    const { body } = await ask({
      sub1: "one",
      s2: "two",
      aff_sub3: "three",
      subid10: "ten",
      src: "s",
    });
    expect((await detailOf(body.transaction_id)).click).toMatchObject({
      sub1: "one",
      sub2: "two",
      sub3: "three",
      sub4: "",
      sub10: "ten",
      source_id: "s",
      link_type: "server",
      status: "redirect",
      status_reason: "",
      destination: "",
      offer_id: shopId,
      affiliate_id: main.affiliateId,
    });
  });

  test("the answer is 200 JSON without redirect, cookie or cache (CLKS-005)", async () => {
    const { answer } = await ask();
    const names = ["location", "set-cookie"];
    expect(names.map((name) => headerOf(answer, name))).toEqual(["", ""]);
    expect(headerOf(answer, "content-type")).toMatch(/^application\/json/);
    expect(headerOf(answer, "cache-control")).toBe("no-store");
  });

  test("parameters that nobody knows are extra; token, ip and user_agent are not (CLKS-018)", async () => {
    const { body } = await ask({ foo: "bar", täg: "ü", ip: GERMAN_IP, user_agent: FIREFOX });
    expect((await detailOf(body.transaction_id)).extra).toEqual({ foo: "bar", täg: "ü" });
  });

  test.each(["PUT", "DELETE", "PATCH", "HEAD"])("%s is 405", async (method) => {
    const answer = await world.ask(`/clk?oid=SHOP&affid=${PARTNER}`, { ...CALLER, method });
    expect(answer.status).toBe(405);
  });
});

describe("codes 1 to 3", () => {
  beforeAll(async () => {
    const stopped = await world.addAdvertiser(main.id, "stopped-token", { status: "paused" });
    await world.store.insert("offer", {
      workspace_id: main.id,
      advertiser_id: stopped,
      code: "STOPPED",
      name: "STOPPED",
      destination_url: "https://shop.example/",
      currency: "USD",
    });
    const other = await world.addAdvertiser(main.id, "other-token");
    await world.store.insert("offer", {
      workspace_id: main.id,
      advertiser_id: other,
      code: "THEIRS",
      name: "THEIRS",
      destination_url: "https://shop.example/",
      currency: "USD",
    });
    await world.addAdvertiser(main.id, "shared-token");
    await world.addAdvertiser(main.id, "shared-token");
    await world.untilCurrent();
  });

  test.each<[string, number, Record<string, string>]>([
    ["CLKS-006 a wrong token", 1, { token: "x" }],
    ["CLKS-006 an empty token", 1, { token: "" }],
    ["CLKS-006 the token of a paused advertiser", 1, { token: "stopped-token", oid: "STOPPED" }],
    ["CLKS-006 T65 a token that two advertisers share", 1, { token: "shared-token" }],
    ["CLKS-007 an offer that nobody has", 2, { oid: "zz" }],
    ["CLKS-007 no offer", 2, { oid: "" }],
    ["CLKS-008 a partner that nobody has", 3, { affid: "zz" }],
    ["CLKS-008 no partner", 3, { affid: "" }],
    ["CLKS-017 an advertiser's token on another's offer", 1, { token: "other-token" }],
  ])("%s: code %i, and no id", async (_, code, params) => {
    const { answer, body } = await ask({ ...params, sub2: "unrecorded" });
    expect(body).toEqual({ transaction_id: "", offer_id: 0, affiliate_id: 0, error_code: code });
    expect(headerOf(answer, "location")).toBe("");
  });

  test("no token at all is code 1 (CLKS-006)", async () => {
    const target = `/clk?oid=SHOP&affid=${PARTNER}&sub2=unrecorded`;
    expect(bodyOf(await world.ask(target, CALLER)).error_code).toBe(1);
  });

  test("none of them recorded a click (CLKS-016)", async () => {
    const { body } = await ask({ sub2: "recorded" });
    expect(await listed("sub2=recorded")).toMatchObject([{ click_id: body.transaction_id }]);
    expect(await listed("sub2=unrecorded")).toEqual([]);
  });

  test("an advertiser's token works for its own offers (CLKS-017)", async () => {
    const { body } = await ask({ token: "other-token", oid: "THEIRS" });
    expect(body).toMatchObject({ error_code: 0, affiliate_id: main.affiliateId });
    expect((await detailOf(body.transaction_id)).click).toMatchObject({ status: "redirect" });
  });
});

describe("codes 4 to 10", () => {
  beforeAll(async () => {
    await world.addOffer(main, "PAUSED", { status: "paused" });
    const quiet = await world.addAdvertiser(main.id, "quiet-token", { status: "paused" });
    await world.addOffer(main, "QUIET", { advertiser_id: quiet });
    const later = { schedule: { starts_at: "2099-01-01T00:00:00Z" } };
    await world.addOffer(main, "LATER", { targeting: later });
    await world.addOffer(main, "APPROVAL", { visibility: "approval" });
    await world.addOffer(main, "TERMS", { terms: "Be good." });
    await world.addOffer(main, "USA", { targeting: { countries_allow: ["US"] } });
    await world.addOffer(main, "CAPPED", { caps: { clicks: { daily: 1 } } });
    await world.addOffer(sleeping, "ASLEEP");
    await world.store.insert("traffic_control", {
      workspace_id: main.id,
      name: "no test traffic",
      action: "block",
      conditions: { sub: { sub1: ["banned"] } },
    });
    await world.addOffer(main, "ONCE", { duplicate_click_seconds: 3_600 });
    await world.untilCurrent();
    for (const oid of ["CAPPED", "ONCE"]) {
      const { body } = await ask({ oid, ip: GERMAN_IP, user_agent: FIREFOX });
      if (body.error_code !== 0) throw new Error(`the first click on ${oid} is refused`);
    }
  });

  test.each<[string, number, string, Record<string, string>]>([
    ["CLKS-009 a paused offer", 4, "paused", { oid: "PAUSED" }],
    ["CLKS-009 an offer of a paused advertiser", 4, "paused", { oid: "QUIET" }],
    ["CLKS-009 an offer outside its schedule", 4, "paused", { oid: "LATER" }],
    ["CLKS-010 a partner without approval", 5, "not_approved", { oid: "APPROVAL" }],
    ["CLKS-010 a partner that has not accepted the terms", 5, "not_approved", { oid: "TERMS" }],
    ["CLKS-011 a visitor of another country", 6, "targeting", { oid: "USA", ip: GERMAN_IP }],
    ["CLKS-012 a click beyond the cap", 7, "cap", { oid: "CAPPED" }],
    ["CLKS-014 a click that a traffic control blocks", 9, "traffic_control", { sub1: "banned" }],
    ["CLKS-015 a visitor who has just clicked", 10, "duplicate", { oid: "ONCE" }],
  ])(
    "%s: code %i, a fallback click with the reason %s (CLKS-016)",
    async (_, code, reason, params) => {
      const visitor = { ip: GERMAN_IP, user_agent: FIREFOX };
      const { answer, body } = await ask({ ...visitor, ...params });
      expect(body).toMatchObject({ affiliate_id: main.affiliateId, error_code: code });
      expect(headerOf(answer, "location")).toBe("");
      expect(body.transaction_id).toMatch(/^[0-9a-f]{32}$/);
      expect((await detailOf(body.transaction_id)).click).toMatchObject({
        status: "fallback",
        status_reason: reason,
        link_type: "server",
        offer_id: body.offer_id,
        affiliate_id: body.affiliate_id,
      });
    },
  );

  test("an inactive workspace: code 8, a fallback click with workspace_inactive (CLKS-013, CLKS-016)", async () => {
    const { body } = await ask({ oid: "ASLEEP", token: sleeping.postbackToken });
    expect(body).toMatchObject({ affiliate_id: sleeping.affiliateId, error_code: 8 });
    // Keys of an inactive workspace are refused: its rows are looked at where they are.
    expect(await world.stored(`workspace_id = ${sleeping.id}`)).toMatchObject([
      { id: body.transaction_id, status: "fallback", status_reason: "workspace_inactive" },
    ]);
  });

  test("the visitor's country decides, not the caller's (CLKS-011)", async () => {
    const { body } = await ask({ oid: "USA", ip: AMERICAN_IP, user_agent: FIREFOX });
    expect(body.error_code).toBe(0);
  });
});

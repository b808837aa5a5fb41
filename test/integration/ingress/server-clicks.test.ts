import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { FIREFOX } from "../../samples/user-agents.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, headerOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  ClickPathsWorld,
  GERMAN_IP,
  PARTNER,
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

/** The advertiser's server, whose address and user agent say nothing about the visitor. */
const CALLER: Asking = { ip: "203.0.113.50", userAgent: "curl/8.5.0" };

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main", { default_fallback_url: "https://ws.example/" });
const sleeping = await world.addTenant("sleeping", { status: "inactive" });
const shopId = await world.addOffer(main, "SHOP");
await world.untilCurrent();

function bodyOf(answer: Answer): Body {
  expect(answer.status).toBe(200);
  return Body.parse(JSON.parse(answer.body));
}

/** Asks for a click on SHOP by the partner in the main workspace; `params` replace or add parameters. */
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

describe("a click that a server reports", () => {
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

  test("the transaction id is 32 hex digits and converts in /pb at once (CLKS-002)", async () => {
    const { body } = await ask({ sub1: "converts" });
    expect(body.transaction_id).toMatch(/^[0-9a-f]{32}$/);
    const report = await world.report(`click_id=${body.transaction_id}`, main);
    expect(report).toMatchObject({ ok: true, status: "approved" });
    const again = await world.report(`transaction_id=${body.transaction_id}`, main);
    expect(again).toMatchObject({ ok: true, duplicate: true });
  });

  test("location, device and stored address are the visitor's, not the caller's (CLKS-003)", async () => {
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

  test("sub IDs, also by an alias, and unknown parameters are stored (CLKS-004, CLKS-018)", async () => {
    const subIds = { sub1: "one", s2: "two", aff_sub3: "three", subid10: "ten", src: "s" };
    const others = { foo: "bar", täg: "ü", ip: GERMAN_IP, user_agent: FIREFOX };
    const { body } = await ask({ ...subIds, ...others });
    const { click, extra } = await detailOf(body.transaction_id);
    // The token and the description of the visitor are no extra parameters.
    expect(extra).toEqual({ foo: "bar", täg: "ü" });
    expect(click).toMatchObject({
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

  test.each(["PUT", "DELETE", "PATCH", "HEAD"])("%s is 405", async (method) => {
    const answer = await world.ask(`/clk?oid=SHOP&affid=${PARTNER}`, { ...CALLER, method });
    expect(answer.status).toBe(405);
  });
});

test("codes 1 to 3 have no transaction id and record no click (CLKS-006, CLKS-007, CLKS-008, CLKS-016)", async () => {
  for (const [code, params] of [
    [1, { token: "x" }],
    [2, { oid: "zz" }],
    [3, { affid: "zz" }],
  ] as const) {
    const { answer, body } = await ask({ ...params, sub2: "unrecorded" });
    expect(body).toEqual({ transaction_id: "", offer_id: 0, affiliate_id: 0, error_code: code });
    expect(headerOf(answer, "location")).toBe("");
  }
  const { body } = await ask({ sub2: "recorded" });
  await world.untilListed(main);
  const listed = async (query: string): Promise<unknown[]> =>
    Page.parse(await world.rest(`/clicks?${query}`, main.adminKey)).data;
  expect(await listed("sub2=recorded")).toMatchObject([{ click_id: body.transaction_id }]);
  expect(await listed("sub2=unrecorded")).toEqual([]);
});

test("an advertiser's token works for its own offers only (CLKS-017)", async () => {
  const other = await world.addAdvertiser(main.id, "other-token");
  await world.addOffer(main, "THEIRS", { advertiser_id: other });
  await world.untilCurrent();
  const { body } = await ask({ token: "other-token", oid: "THEIRS" });
  expect(body).toMatchObject({ error_code: 0, affiliate_id: main.affiliateId });
  expect((await detailOf(body.transaction_id)).click).toMatchObject({ status: "redirect" });
  expect((await ask({ token: "other-token" })).body).toMatchObject({ error_code: 1 });
});

describe("codes 4 to 10", () => {
  beforeAll(async () => {
    await world.addOffer(main, "USA", { targeting: { countries_allow: ["US"] } });
    await world.addOffer(main, "ONCE", { duplicate_click_seconds: 3_600 });
    await world.addOffer(sleeping, "ASLEEP");
    await world.untilCurrent();
    const { body } = await ask({ oid: "ONCE", ip: GERMAN_IP, user_agent: FIREFOX });
    if (body.error_code !== 0) throw new Error("the first click is refused");
  });

  test.each<[string, number, string, Record<string, string>]>([
    ["a visitor of another country", 6, "targeting", { oid: "USA" }],
    ["a visitor who has just clicked", 10, "duplicate", { oid: "ONCE" }],
  ])(
    "%s: code %i, a fallback click with the reason %s (CLKS-011, CLKS-015, CLKS-016)",
    async (_, code, reason, params) => {
      const { answer, body } = await ask({ ip: GERMAN_IP, user_agent: FIREFOX, ...params });
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
    // Keys of an inactive workspace are refused, so its rows are read from ClickHouse.
    expect(await world.stored(`workspace_id = ${sleeping.id}`)).toMatchObject([
      { id: body.transaction_id, status: "fallback", status_reason: "workspace_inactive" },
    ]);
  });

  test("the visitor's country decides, not the caller's (CLKS-011)", async () => {
    const { body } = await ask({ oid: "USA", ip: AMERICAN_IP, user_agent: FIREFOX });
    expect(body.error_code).toBe(0);
  });
});

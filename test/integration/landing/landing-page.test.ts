import { describe, expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf, headerOf, lineOf } from "../ingress/click-answer.ts";
import {
  type Asking,
  type Click,
  ClickPathsWorld,
  GERMAN_IP,
  PARTNER,
} from "../ingress/click-paths-world.ts";

const HOST = "trk.shop.example";
const ORGANIC_HOST = "trk.organic.example";
const CLOSED_HOST = "trk.closed.example";
const PAGE = "https://shop.example/shoes?sub1=one&s2=two&campaignid=77&keyword=red&gclid=";
const TARGET = `url=${encodeURIComponent("https://shop.example/shoes")}`;
const UNKNOWN_ID = "0123456789abcdef0123456789abcdef";
const CANARY = "canary-4711@person.example";

const Found = z.strictObject({ click_id: z.string().regex(/^[0-9a-f]{32}$/), source: z.string() });
let visits = 0;

const world = await forThisFile(ClickPathsWorld.open());
const shop = await world.addTenant("shop");
const organic = await world.addTenant("organic", { ip_storage: "truncated" });
const closed = await world.addTenant("closed", { status: "inactive" });
const shopId = await world.addOffer(shop, "SHOP");
await world.addOffer(shop, "PAUSED", { status: "paused" });
await world.addOffer(shop, "PICKY", { visibility: "approval" });
await world.addOffer(closed, "CLOSED");
await world.addOffer(organic, "SHOP2");
const houseId = await world.addAffiliate(organic.id, "HOUSE1");
await world.store.change("update workspace set organic_affiliate_id = $1 where id = $2", [
  houseId,
  organic.id,
]);
for (const [tenant, host] of [
  [shop, HOST],
  [organic, ORGANIC_HOST],
  [closed, CLOSED_HOST],
] as const)
  await world.store.insert("tracking_domain", { workspace_id: tenant.id, host });
await world.untilCurrent();

async function post(body: unknown, asking: Asking = {}): Promise<Answer> {
  return await world.ask("/lp", {
    method: "POST",
    host: HOST,
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...asking,
    headers: { "content-type": "text/plain;charset=UTF-8", ...asking.headers },
  });
}

/** Sends a page view and expects a click. */
async function find(body: unknown, asking: Asking = {}): Promise<z.infer<typeof Found>> {
  const answer = await post(body, asking);
  expect(answer.status, answer.body).toBe(200);
  return Found.parse(JSON.parse(answer.body));
}

function newAdClickId(): string {
  visits += 1;
  return `Cj0-${visits}-ABCdef_${Date.now()}`;
}

/** A visitor clicks an ad with a tracking template; returns the click's id. */
async function clickAd(parameters: string): Promise<string> {
  const answer = await world.ask(`/c/SHOP-${PARTNER}?${parameters}&${TARGET}`, { host: HOST });
  expect(lineOf(answer)).toBe("302 https://shop.example/shoes");
  return clickIdOf(answer);
}

const Detail = z.object({
  data: z.object({
    click: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    extra: z.record(z.string(), z.string()),
    conversions: z.array(z.looseObject({ method: z.string(), status: z.string() })),
  }),
});

async function detail(id: string, tenant = shop): Promise<z.infer<typeof Detail>["data"]> {
  return Detail.parse(await world.rest(`/clicks/${id}`, tenant.adminKey)).data;
}

describe("an existing click", () => {
  test("is found by its gclid at once, 200 times without a miss (LP-004, T49, P12)", async () => {
    const misses: string[] = [];
    const visitor = async (): Promise<void> => {
      for (let i = 0; i < 50; i += 1) {
        const gclid = newAdClickId();
        const click_id = await clickAd(`gclid=${gclid}`);
        const answer = await post({ gclid, url: PAGE + gclid });
        const expected = JSON.stringify({ click_id, source: "gclid" });
        if (answer.status !== 200 || answer.body !== expected) misses.push(answer.body);
      }
    };
    await Promise.all(Array.from({ length: 4 }, visitor));
    expect(misses).toEqual([]);
  });

  test("wins over a direct click, whichever offer the page names (LP-004)", async () => {
    const gclid = newAdClickId();
    const click_id = await clickAd(`gclid=${gclid}`);
    for (const offer of ["SHOP", "PAUSED", "NONE"])
      expect(await find({ gclid, offer })).toEqual({ click_id, source: "gclid" });
    expect(await find({ url: PAGE + gclid, offer: "SHOP" })).toEqual({ click_id, source: "gclid" });
  });

  test("is found by gbraid and by wbraid (LP-005)", async () => {
    for (const source of ["gbraid", "wbraid"]) {
      const value = newAdClickId();
      const click_id = await clickAd(`${source}=${value}`);
      expect(await find({ [source]: value })).toEqual({ click_id, source });
    }
  });

  test("is found by the second kind of id when the first is unknown (LP-004, LP-005)", async () => {
    const wbraid = newAdClickId();
    const click_id = await clickAd(`wbraid=${wbraid}`);
    expect(await find({ gclid: newAdClickId(), wbraid })).toEqual({ click_id, source: "wbraid" });
  });

  test("is confirmed by its id, also in capitals (LP-020)", async () => {
    const click_id = await clickAd("sub1=x");
    expect(await find({ click_id })).toEqual({ click_id, source: "param" });
    expect(await find({ click_id: click_id.toUpperCase() })).toEqual({ click_id, source: "param" });
  });

  test("is not confirmed if made up or of another workspace (LP-020)", async () => {
    expect((await post({ click_id: UNKNOWN_ID })).body).toBe('{"error":"offer required"}');
    const made = await find({ click_id: UNKNOWN_ID, offer: "SHOP" });
    expect(made.source).toBe("direct");
    expect(made.click_id).not.toBe(UNKNOWN_ID);
    const foreign = await clickAd("sub1=x");
    expect((await post({ click_id: foreign }, { host: ORGANIC_HOST })).body).toBe(
      '{"error":"offer required"}',
    );
  });
});

describe("a direct click", () => {
  test("has subs, tag values and ids of the page's URL and the visitor's facts (LP-006, TRK-037)", async () => {
    const gclid = newAdClickId();
    const body = {
      offer: "shop",
      url: `${PAGE}${gclid}&colour=blue`,
      referrer: "https://a.example/x",
    };
    const made = await find(body);
    expect(made.source).toBe("direct");
    const { click, extra } = await detail(made.click_id);
    expect(click).toMatchObject({
      link_type: "direct",
      status: "none",
      status_reason: "lp",
      destination: "",
      offer_id: shopId,
      affiliate_id: 0,
      advertiser_id: shop.advertiserId,
      sub1: "one",
      sub2: "two",
      ext_campaign_id: "77",
      ext_keyword: "red",
      gclid,
      traffic_source: "google",
      referrer: "https://a.example/x",
      referrer_host: "a.example",
      country: "DE",
      ip: GERMAN_IP,
      browser: "Firefox",
      device_type: "desktop",
      domain: HOST,
      is_bot: false,
    });
    expect(extra).toEqual({ colour: "blue" });
    expect(await find({ gclid })).toEqual({ click_id: made.click_id, source: "gclid" });
  });

  test("is listed, reported and can convert (LP-006)", async () => {
    const { click_id } = await find({ offer: "SHOP", url: PAGE, sub1: "listed-direct" });
    const [row] = await world.listed("sub1=listed-direct", shop);
    expect(row).toMatchObject({ click_id, link_type: "direct", status: "none" } satisfies Click);
    expect(await world.report(`click_id=${click_id}`, shop)).toMatchObject({
      ok: true,
      status: "approved",
    });
    expect((await detail(click_id)).conversions).toMatchObject([{ status: "approved" }]);
  });

  test("is credited to the partner that the page names (LP-007)", async () => {
    const { click_id } = await find({ offer: "SHOP", aff: PARTNER.toLowerCase(), url: PAGE });
    expect((await detail(click_id)).click["affiliate_id"]).toBe(shop.affiliateId);
  });
});

describe("an organic click", () => {
  test("belongs to the organic partner, with platform, referring host and landing path (LP-018)", async () => {
    const made = await find(
      {
        organic: true,
        url: "https://shop.example/shoes?utm_medium=x",
        sub1: "google",
        referrer: "https://www.google.com/",
        aff: PARTNER,
      },
      { host: ORGANIC_HOST },
    );
    expect(made.source).toBe("organic");
    const [house] = await world.store.rows("select id from affiliate where code = 'HOUSE1'");
    expect((await detail(made.click_id, organic)).click).toMatchObject({
      link_type: "organic",
      status: "none",
      status_reason: "organic",
      offer_id: 0,
      affiliate_id: house?.["id"],
      sub1: "google",
      sub2: "www.google.com",
      sub3: "/shoes",
    });
    const { click_id } = made;
    expect(await world.report(`click_id=${click_id}`, organic)).toEqual({
      ok: false,
      error: "offer_id required: the click is not tied to an offer",
    });
    expect(await world.report(`click_id=${click_id}&offer_id=SHOP2`, organic)).toMatchObject({
      ok: true,
      status: "approved",
    });
  });

  test("needs an organic partner (LP-018, G161)", async () => {
    expect((await post({ organic: true, url: PAGE })).body).toBe('{"error":"unknown affiliate"}');
  });
});

const REFUSALS: [name: string, body: unknown, error: string, host?: string][] = [
  ["text that is not JSON (LP-008)", "x", "invalid body"],
  ["no offer and an unknown gclid (LP-010)", { gclid: "unknown" }, "offer required"],
  ["an inactive workspace (LP-011)", { offer: "CLOSED" }, "workspace not active", CLOSED_HOST],
  [
    "a partner who may not promote the offer (LP-014)",
    { offer: "PICKY", aff: PARTNER },
    "affiliate not approved for this offer",
  ],
];

describe("refusals (LP-017)", () => {
  test.each(REFUSALS)("%s", async (_, body, error, host = HOST) => {
    const answer = await post(body, { host, headers: { origin: "https://shop.example" } });
    expect([answer.status, answer.body]).toEqual([400, JSON.stringify({ error })]);
    expectOpen(answer);
  });

  test("the clicks of a workspace that has become inactive (LP-011, T74)", async () => {
    const fading = await world.addTenant("fading");
    await world.addOffer(fading, "FADING");
    await world.store.insert("tracking_domain", {
      workspace_id: fading.id,
      host: "trk.fading.example",
    });
    await world.untilCurrent();
    const host = "trk.fading.example";
    const { click_id } = await find({ offer: "FADING" }, { host });
    await world.store.change("update workspace set status = 'inactive' where id = $1", [fading.id]);
    await world.untilCurrent();
    expect((await post({ click_id }, { host })).body).toBe('{"error":"workspace not active"}');
  });

  test("every method but POST (LP-015, T20)", async () => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const answer = await world.ask("/lp", { method, host: HOST });
      expect(answer.status).toBe(405);
      expect(answer.body).toBe(method === "HEAD" ? "" : '{"error":"method not allowed"}');
      expect(headerOf(answer, "allow")).toBe("POST, OPTIONS");
      expectOpen(answer);
    }
  });

  test("a body over 64 KiB is refused, one of exactly 64 KiB is not (G160)", async () => {
    const body = JSON.stringify({ offer: "SHOP", url: PAGE, pad: "" });
    const whole = body.replace('"pad":""', `"pad":"${"x".repeat(65_536 - body.length)}"`);
    expect((await find(whole)).source).toBe("direct");
    const answer = await post(`${whole} `);
    expect([answer.status, answer.body]).toEqual([413, '{"error":"request body too large"}']);
    expectOpen(answer);
  });
});

describe("pages of other origins", () => {
  test("may send text or JSON and read the answer, without credentials (LP-001, LP-002, T48)", async () => {
    for (const type of ["text/plain", "application/json", "application/json; charset=utf-8"]) {
      const headers = { "content-type": type, origin: "https://shop.example", cookie: "trk_cid=x" };
      const answer = await post({ offer: "SHOP", url: PAGE }, { headers });
      expect(answer.status, type).toBe(200);
      expect(headerOf(answer, "content-type")).toBe("application/json; charset=utf-8");
      expect(headerOf(answer, "cache-control")).toBe("no-store");
      expect(headerOf(answer, "set-cookie")).toBe("");
      expectOpen(answer);
    }
  });

  test("may send a preflight request (LP-003, G19)", async () => {
    const answer = await world.ask("/lp", {
      method: "OPTIONS",
      host: HOST,
      headers: {
        origin: "https://shop.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    expect([answer.status, answer.body]).toEqual([204, ""]);
    expect(headerOf(answer, "access-control-allow-methods")).toContain("POST");
    expect(headerOf(answer, "access-control-allow-headers").toLowerCase()).toBe("content-type");
    expectOpen(answer);
    for (const path of ["/pb", "/clk", `/r/SHOP/${PARTNER}`])
      expect((await world.ask(path, { method: "OPTIONS", host: HOST })).status).toBe(405);
  });
});

test("every call is in the inbound log with its result, without personal data (LP-019, G178, P31)", async () => {
  const gclid = newAdClickId();
  const click_id = await clickAd(`gclid=${gclid}`);
  const url = `https://shop.example/?email=${CANARY}`;
  await find({ gclid, url, referrer: url });
  await find({ click_id, url });
  await find({ organic: true, url }, { host: ORGANIC_HOST, ip: GERMAN_IP });
  await find({ offer: "SHOP", aff: PARTNER, url });
  await post({ offer: "NONE", url });
  await post("x");
  await expect
    .poll(
      async () =>
        await world.store.rows(
          `select result, http_status, host(ip) as ip, params, click_id is not null as has_click, message
           from postback_log where endpoint = 'lp' order by id desc limit 6`,
        ),
      { timeout: 5_000 },
    )
    .toEqual([
      { ...refusedRow("malformed", "invalid body"), params: {} },
      { ...refusedRow("unknown_offer", "unknown offer"), params: { offer: "NONE" } },
      { ...foundRow("direct"), params: { offer: "SHOP", aff: PARTNER } },
      { ...foundRow("organic"), ip: "91.64.10.0", params: { organic: "true" } },
      { ...foundRow("param"), params: { click_id } },
      { ...foundRow("gclid"), params: { gclid } },
    ]);
  const rows = await world.store.rows(
    "select * from postback_log where postback_log::text like $1",
    [`%${CANARY}%`],
  );
  expect(rows).toEqual([]);
});

function foundRow(result: string): Record<string, unknown> {
  return { result, http_status: 200, ip: GERMAN_IP, has_click: true, message: "" };
}

/** The tracking domain identifies the workspace, which stores whole addresses. */
function refusedRow(result: string, message: string): Record<string, unknown> {
  return { result, http_status: 400, ip: GERMAN_IP, has_click: false, message };
}

function expectOpen(answer: Answer): void {
  expect(headerOf(answer, "access-control-allow-origin")).toBe("*");
  expect(headerOf(answer, "access-control-allow-credentials")).toBe("");
}

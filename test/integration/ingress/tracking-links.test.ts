import { beforeAll, describe, expect, test } from "vitest";
import { FIREFOX, GOOGLEBOT } from "../../samples/user-agents.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, clickIdOf, cookiesOf, headerOf, lineOf } from "./click-answer.ts";
import {
  AMERICAN_IP,
  type Asking,
  type Click,
  ClickPathsWorld,
  PARTNER,
  type Tenant,
} from "./click-paths-world.ts";

const DESTINATION = "https://shop.example/buy?c={click_id}&s={sub1}";
const URL_PARAM = `url=${encodeURIComponent("https://shop.example/p?a=1")}`;
const CLICK_PATHS = ["/r/SHOP/PART01?x=1", "/click?oid=SHOP&aid=PART01", "/s/BEST-PART01?x=1"];
const ALL_PATHS = [...CLICK_PATHS, `/c/SHOP-PART01?${URL_PARAM}`];

const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "content-length", "date"]);

const world = await forThisFile(ClickPathsWorld.open());
const main = await world.addTenant("main", {
  default_fallback_url: "https://ws.example/?o={offer_code}&s={sub1}",
});
const bare = await world.addTenant("bare");
const shopId = await world.addOffer(main, "SHOP", { destination_url: DESTINATION });
await world.addSmartLink(main, "BEST", {
  rules: [{ name: "all", conditions: {}, offers: [{ offer_id: shopId, weight: 1 }] }],
});

/** The click without its id, its time and whether it was the visitor's first. */
function withoutTime(click: Click): Click {
  const id = String(click["click_id"]);
  const known = { click_id: "ID", ts: "", is_unique: false };
  return { ...click, ...known, destination: String(click["destination"]).replace(id, "ID") };
}

describe("the partner link", () => {
  test("/r leads to the destination with the macros of the recorded click (TRK-001, TRK-002, TRK-048)", async () => {
    await world.untilCurrent();
    const answer = await world.ask("/r/SHOP/PART01?sub1=a%20b%26c%2Bd");
    const id = clickIdOf(answer);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(lineOf(answer)).toBe(`302 https://shop.example/buy?c=${id}&s=a%20b%26c%2Bd`);
    expect(await world.clickOf(answer, main)).toMatchObject({
      click_id: id,
      link_type: "affiliate",
      status: "redirect",
      status_reason: "",
      offer_id: shopId,
      affiliate_id: main.affiliateId,
      advertiser_id: main.advertiserId,
      smart_link_id: 0,
      sub1: "a b&c+d",
      destination: headerOf(answer, "location"),
      workspace_id: main.id,
      domain: "trk.test.example",
    });
  });

  test("/click records the same click as /r (TRK-003)", async () => {
    const [, byPath] = await world.follow("/r/SHOP/PART01?sub1=x&foo=bar", main);
    const answer = await world.ask("/click?aid=part01&oid=shop&sub1=x&foo=bar");
    const { click, extra } = await world.detailOf(answer, main);
    expect(lineOf(answer)).toBe(`302 https://shop.example/buy?c=${clickIdOf(answer)}&s=x`);
    expect(withoutTime(click)).toEqual(withoutTime(byPath));
    expect(extra).toEqual({ foo: "bar" });
  });

  test("an unknown link is 404 JSON without a cookie (TRK-012, G140)", async () => {
    const answer = await world.ask("/r/none/PART01");
    expect(lineOf(answer)).toBe('404 {"error":"unknown_link"}');
    expect(headerOf(answer, "content-type")).toMatch(/^application\/json/);
    expect(cookiesOf(answer)).toEqual([]);
  });
});

describe("methods", () => {
  test.each(ALL_PATHS)(
    "GET, HEAD and POST on %s get the same 302 (TRK-007, G144, T20)",
    async (target) => {
      const answers: Answer[] = [];
      for (const method of ["GET", "HEAD", "POST"])
        answers.push(await world.ask(target, { method }));
      const locations = answers.map((answer) => lineOf(answer).replace(clickIdOf(answer), "ID"));
      expect(locations[0]).toMatch(/^302 https:\/\/shop\.example\//);
      expect(new Set(locations).size).toBe(1);
      expect(answers[1]?.body).toBe("");
      const ofLinks = answers.map(({ headers }) =>
        headers.map(([name]) => name).filter((name) => !CONNECTION_HEADERS.has(name.toLowerCase())),
      );
      expect(ofLinks[1]).toEqual(ofLinks[0]);
      const clicks = await Promise.all(answers.map((answer) => world.clickOf(answer, main)));
      expect(clicks.map(({ is_bot }) => is_bot)).toEqual([false, true, false]);
      expect(clicks.map(({ device_type }) => device_type)).toEqual([
        "desktop",
        "desktop",
        "desktop",
      ]);
    },
  );

  test("the body of a POST adds no parameters to the click (G138, TRK-007)", async () => {
    const body = `sub1=body&${URL_PARAM}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await world.ask("/r/SHOP/PART01?sub2=query", { method: "POST", body, headers });
    expect(lineOf(answer)).toBe(`302 https://shop.example/buy?c=${clickIdOf(answer)}&s=`);
    expect(await world.clickOf(answer, main)).toMatchObject({ sub1: "", sub2: "query" });
    const missing = await world.ask("/c/SHOP-PART01", { method: "POST", body, headers });
    expect(lineOf(missing)).toBe('400 {"error":"missing_url"}');
  });

  test.each([...ALL_PATHS, "/c/unknown", "/r/none/none"])(
    "other methods on %s are 405 and list the allowed ones (TRK-008, G136)",
    async (target) => {
      for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const answer = await world.ask(target, { method });
        expect(lineOf(answer), method).toBe('405 {"error":"method_not_allowed"}');
        expect(headerOf(answer, "allow").split(/, */).sort(), method).toEqual([
          "GET",
          "HEAD",
          "POST",
        ]);
        expect(headerOf(answer, "cache-control"), method).toBe("no-store");
        expect(cookiesOf(answer), method).toEqual([]);
      }
    },
  );
});

describe("fallbacks", () => {
  test("the offer's, the workspace's, or a page without names (TRK-039, TRK-040, TRK-041, G150, T21)", async () => {
    const fallback_url = "https://own.example/?r={sub1}&a={affiliate_code}";
    await world.addOffer(main, "OWN", { status: "paused", fallback_url });
    await world.addOffer(main, "WS", { status: "paused" });
    await world.addOffer(main, "BROKEN", { status: "paused", fallback_url: "mailto:x" });
    await world.addOffer(bare, "NONE", { status: "paused" });
    await world.untilCurrent();
    const refused = { status: "fallback", status_reason: "paused" };
    const [own, ownClick] = await world.follow("/r/OWN/PART01?sub1=a%20b", main);
    expect(own).toBe("302 https://own.example/?r=a%20b&a=PART01");
    expect(ownClick).toMatchObject({ ...refused, destination: own.slice(4) });
    for (const offer of ["WS", "BROKEN"]) {
      const [line, click] = await world.follow(`/r/${offer}/PART01?sub1=%C3%A9`, main);
      expect(line).toBe(`302 https://ws.example/?o=${offer}&s=%C3%A9`);
      expect(click).toMatchObject({ ...refused, destination: line.slice(4) });
    }
    const page = await world.ask("/r/NONE/PART01?sub1=x");
    expect([page.status, headerOf(page, "content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(page.body).toMatch(/^<!doctype html>/);
    expect(page.body).toContain("This link is not available.");
    expect(page.body).toContain("noindex");
    expect(page.body).not.toMatch(/https?:|tracker|NONE|bare/i);
    expect(await world.clickOf(page, bare)).toMatchObject({ ...refused, destination: "" });
    const head = await world.ask("/r/NONE/PART01", { method: "HEAD" });
    expect([head.status, head.body]).toEqual([200, ""]);
  });

  test("no answer may be stored or indexed, or has a referrer policy (TRK-046, G151, G136)", async () => {
    const refused = ["/c/SHOP-PART01", "/c/none", "/c/SHOP-PART01?url=ftp%3A%2F%2Fa"];
    for (const target of ["/r/SHOP/PART01", "/r/NONE/PART01", ...refused]) {
      const answer = await world.ask(target);
      expect(headerOf(answer, "cache-control"), target).toBe("no-store");
      expect(headerOf(answer, "x-robots-tag"), target).toBe("noindex");
      expect(headerOf(answer, "referrer-policy"), target).toBe("");
    }
  });
});

describe("cookies (TRK-044, G149)", () => {
  const REST = "Path=/; Max-Age=7776000; HttpOnly; SameSite=";
  const cookies = async (asking: Asking = {}, target = "/r/SHOP/PART01"): Promise<string[]> => {
    const answer = await world.ask(target, asking);
    return cookiesOf(answer).map((cookie) => cookie.replaceAll(clickIdOf(answer), "ID"));
  };

  test.each([...ALL_PATHS, "/r/NONE/PART01"])(
    "%s sets both, and over TLS also for an advertiser's page",
    async (target) => {
      for (const [proto, rest] of [
        ["http", `${REST}Lax`],
        ["https", `${REST}None; Secure`],
      ] as const) {
        const headers = { "x-forwarded-proto": proto };
        expect(await cookies({ headers }, target)).toEqual([
          `trk_cid=ID; ${rest}`,
          `trk_fcid=ID; ${rest}`,
        ]);
      }
    },
  );

  test("the cookie of the first click stays", async () => {
    const cookie = `a=b; trk_fcid=${"0123456789abcdef".repeat(2)}; trk_cid=x`;
    expect(await cookies({ headers: { cookie } })).toEqual([`trk_cid=ID; ${REST}Lax`]);
  });

  test("a pixel on the tracking domain finds the click by its cookie", async () => {
    const answer = await world.ask("/r/SHOP/PART01");
    const pixel = await world.ask("/px", { headers: { cookie: `trk_cid=${clickIdOf(answer)}` } });
    expect([pixel.status, headerOf(pixel, "x-tracker-conversion")]).toEqual([200, "approved"]);
    const { conversions } = await world.detailOf(answer, main);
    expect(conversions).toEqual([expect.objectContaining({ status: "approved" })]);
  });
});

describe("uniqueness (TRK-045, G87, G144)", () => {
  const isUnique = async (
    offer: string,
    asking: Asking = {},
    partner = PARTNER,
  ): Promise<unknown> =>
    (await world.follow(`/r/${offer}/${partner}`, main, asking))[1]["is_unique"];

  test("a visitor's first click on an offer by a partner is unique, and no later one", async () => {
    await world.addOffer(main, "UNIQUE1");
    await world.addOffer(main, "UNIQUE2");
    await world.addAffiliate(main.id, "PART03");
    await world.untilCurrent();
    expect([
      await isUnique("UNIQUE1"),
      await isUnique("UNIQUE1"),
      await isUnique("UNIQUE1", { method: "POST" }),
    ]).toEqual([true, false, false]);
    expect(await isUnique("UNIQUE1", { ip: AMERICAN_IP })).toBe(true);
    expect(await isUnique("UNIQUE1", { userAgent: `${FIREFOX} x` })).toBe(true);
    expect(await isUnique("UNIQUE1", {}, "PART03")).toBe(true);
    expect(await isUnique("UNIQUE2")).toBe(true);
    expect(await isUnique("UNIQUE1")).toBe(false);
  });

  test.each([
    ["Sec-Purpose", "prefetch;prerender"],
    ["Purpose", "prefetch"],
    ["X-Moz", "prefetch"],
    ["X-Purpose", "preview"],
    ["Sec-Fetch-Dest", "image"],
  ])("%s: %s leaves the first click and the cookie to the visit (G240)", async (name, value) => {
    const query = `sub1=unseen&sub2=${name}`;
    const code = `UNSEEN-${name.toUpperCase()}`;
    await world.addOffer(main, code, { payout_type: "cpc", payout: "0.5000" });
    await world.untilCurrent();
    const answer = await world.ask(`/r/${code}/PART01?${query}`, { headers: { [name]: value } });
    expect([answer.status, cookiesOf(answer)]).toEqual([302, []]);
    const [unseen] = await world.listed(query, main);
    expect(unseen).toMatchObject({ is_bot: true, is_unique: false, status: "redirect" });
    expect((await world.follow(`/r/${code}/PART01`, main))[1]).toMatchObject({
      is_unique: true,
      click_payout: "0.5000",
    });
  });

  test("bots and HEAD requests are never unique, and leave the first click to a person", async () => {
    await world.addOffer(main, "UNIQUE3");
    await world.untilCurrent();
    expect(await isUnique("UNIQUE3", { method: "HEAD" })).toBe(false);
    expect(await isUnique("UNIQUE3", { userAgent: GOOGLEBOT })).toBe(false);
    expect(await isUnique("UNIQUE3", { userAgent: "" })).toBe(false);
    expect(await isUnique("UNIQUE3")).toBe(true);
  });
});

test("a click can be read at once, and is in the list within seconds (TRK-047)", async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => world.ask(`/r/SHOP/PART01?sub1=fresh&sub2=${i}`)),
  );
  const details = await Promise.all(answers.map((answer) => world.clickOf(answer, main)));
  expect(details.map(({ sub2 }) => Number(sub2))).toEqual(answers.map((_, i) => i));
  const listed = await world.listed("sub1=fresh", main, 20);
  expect(new Set(listed.map(({ click_id }) => click_id))).toEqual(new Set(answers.map(clickIdOf)));
  expect(listed).toHaveLength(20);
});

describe("clicks without a redirect are stored with their origin (TRK-037)", () => {
  const none = { status: "none", destination: "" };

  test("coupon: a report with the code alone creates it (G115)", async () => {
    const coupon = { code: "SAVE10", offer_id: shopId, affiliate_id: main.affiliateId };
    await world.store.insert("coupon", { workspace_id: main.id, ...coupon });
    await world.untilCurrent();
    const outcome = await world.report("coupon_code=save10&txid=c1", main);
    expect(outcome).toMatchObject({ ok: true, status: "approved" });
    const [click] = await world.listed("status_reason=coupon", main);
    expect(click).toMatchObject({ ...none, offer_id: shopId, affiliate_id: main.affiliateId });
  });

  test.each<[string, object]>([
    ["lp", { url: "https://shop.example/?sub1=landed", offer: "SHOP", aff: PARTNER }],
    ["organic", { url: "https://shop.example/", offer: "SHOP", organic: true }],
  ])("%s: a landing page creates it", async (reason, fields) => {
    const organic = await world.addAffiliate(main.id, `FREE${reason.toUpperCase()}`);
    await world.store.change("update workspace set organic_affiliate_id = $2 where id = $1", [
      main.id,
      organic,
    ]);
    await world.untilCurrent();
    const answer = await world.ask("/lp", { method: "POST", body: JSON.stringify(fields) });
    expect(answer.status, answer.body).toBe(200);
    const [click] = await world.listed(`status_reason=${reason}`, main);
    expect(click).toMatchObject({ ...none, offer_id: shopId });
    expect(answer.body).toContain(String(click?.["click_id"]));
  });
});

describe("hosts", () => {
  let other: Tenant;
  beforeAll(async () => {
    other = await world.addTenant("other");
    for (const [tenant, host] of [
      [main, "one.trk.example"],
      [other, "two.trk.example"],
    ] as const) {
      await world.store.insert("tracking_domain", { workspace_id: tenant.id, host });
      await world.addOffer(tenant, "TWIN");
    }
    await world.addOffer(other, "LONE");
    await world.untilCurrent();
  });

  test("a listed host serves its own workspace, any other host all of them, lowest ID first (G153)", async () => {
    const served = async (host: string, tenant: Tenant): Promise<unknown> =>
      (await world.clickOf(await world.ask("/r/TWIN/PART01", { host }), tenant))["domain"];
    expect(await served("one.trk.example", main)).toBe("one.trk.example");
    expect(await served("TWO.trk.example:80", other)).toBe("two.trk.example");
    expect(await served("localhost:8080", main)).toBe("localhost:8080");
    expect(lineOf(await world.ask("/r/LONE/PART01", { host: "one.trk.example" }))).toContain("404");
    expect(lineOf(await world.ask("/r/SHOP/PART01", { host: "two.trk.example" }))).toContain("404");
    expect(await served("nobody.example", main)).toBe("nobody.example");
  });
});

test("a new ingress takes no click that nobody saw for the first of a visitor (G240, G145)", async () => {
  await world.addOffer(main, "ONCE", { duplicate_click_seconds: 3_600 });
  await world.untilCurrent();
  await world.ask("/r/ONCE/PART01", { method: "HEAD" });
  await world.killIngress();
  await world.untilCurrent();
  const reasons = [];
  for (let times = 0; times < 2; times += 1)
    reasons.push((await world.follow("/r/ONCE/PART01", main))[1]["status_reason"]);
  expect(reasons).toEqual(["", "duplicate"]);
});

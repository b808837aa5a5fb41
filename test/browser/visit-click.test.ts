import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "./chromium-program.ts";
import { LandingWorld } from "./landing-world.ts";
import { OFFER, OTHER_PARTNER, PARTNER, TRACK } from "./shop-seed.ts";

const MADE_UP = "0123456789abcdef0123456789abcdef";
const OTHER_MADE_UP = "fedcba9876543210fedcba9876543210";
const DAY_SECONDS = 86_400;
const DIRECT = `data-offer="${OFFER}" data-aff="${PARTNER}"`;
const program = findChromium();

describe.skipIf(program === undefined)("the click of a visit", () => {
  let world: LandingWorld;
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
  });
  afterEach(() => world.endVisits());
  afterAll(() => world.close());

  test.each([
    ["?click_id=X", ""],
    ["?transaction_id=X", ""],
    ["?tid=X", ""],
    [`?ref=X&click_id=${OTHER_MADE_UP}`, 'data-param="ref"'],
    ["?click_id=not-hex&tid=X", ""],
  ])(
    "the id in %s is used as it is, without a call of /lp (SDK-004)",
    async (query, attributes) => {
      const page = await world.visit({ query: query.replace("X", MADE_UP), attributes });
      expect(await page.clickId()).toBe(MADE_UP);
      expect(page.landings).toEqual([]);
    },
  );

  test.each([`?click_id=${MADE_UP.slice(1)}`, ""])(
    "without an id in %j and without attributes there is no click (SDK-004, SDK-010, T22)",
    async (query) => {
      const page = await world.visit({ query });
      expect(await page.clickId()).toBeNull();
      expect(page.landings).toEqual([]);
      expect(await page.stored("trk_cid")).toBeNull();
      expect(page.warnings).toEqual([]);
    },
  );

  test("an ad click with several ids is found by the one that was recorded (SDK-005)", async () => {
    const run = Date.now();
    const query = `?gclid=unrecorded-${run}&gbraid=recorded-${run}`;
    // An ad platform's tracking template: the demo's transparent link.
    const through = (pageUrl: string): string =>
      `${TRACK}/c/demo-shop-anna?gbraid=recorded-${run}&url=${encodeURIComponent(pageUrl)}`;
    const page = await world.visit({ query, through });
    const click = await world.click(await page.knownClickId());
    expect(click).toMatchObject({ link_type: "transparent", gbraid: `recorded-${run}` });
  });

  test("an ad id without a recorded click falls back to the stored click and makes none (SDK-005, G163)", async () => {
    const stored = await world.partnerClick();
    await world.visit({ query: `?click_id=${stored}` });
    const attributes = `data-offer="${OFFER}" data-aff="${PARTNER}" data-organic`;
    const page = await world.visitAgain({ attributes, query: "?gclid=nobody-1" });
    expect(await page.clickId()).toBe(stored);
    expect(page.landings).toHaveLength(1);
    expect(page.landings[0]).toMatchObject({ gclid: "nobody-1" });
    expect(page.landings[0]).not.toHaveProperty("offer");
    expect(page.landings[0]).not.toHaveProperty("aff");
  });

  test("a visit without any id becomes a direct click of data-offer and data-aff (SDK-009, SDK-003, LP-007)", async () => {
    const attributes = `data-offer="${OFFER}" data-aff="${OTHER_PARTNER}"`;
    const page = await world.visit({ attributes });
    const id = await page.knownClickId();
    expect(page.landings).toEqual([
      { url: page.page.url(), referrer: "", offer: OFFER, aff: OTHER_PARTNER },
    ]);
    expect(await world.click(id)).toMatchObject({
      link_type: "direct",
      status_reason: "lp",
      partner: "Bob's coupons",
    });
  });

  test("a visit from a search engine is an organic click of its platform (SDK-007, SDK-008, LP-018)", async () => {
    const page = await world.visit({
      path: "/landing/google",
      query: "?q=1",
      attributes: `data-organic data-aff="${PARTNER}"`,
      referer: "http://www.google.com/",
    });
    const click = await world.click(await page.knownClickId());
    expect(page.landings).toHaveLength(1);
    expect(click).toMatchObject({
      link_type: "organic",
      status: "none",
      status_reason: "organic",
      sub1: "google",
      sub2: "www.google.com",
      sub3: "/landing/google",
      partner: "Organic",
    });
  });

  test("names on a page are the neutral ones (ENV-032)", async () => {
    const id = await world.partnerClick();
    const page = await world.visit({
      query: `?click_id=${id}`,
      body: '<a id="l" data-trk href="/x">x</a>',
    });
    expect(await page.clickId()).toBe(id);
    expect(await page.page.evaluate("Object.keys(Tracker).sort()")).toEqual(
      expect.arrayContaining(["clickId", "conversion", "error", "push"]),
    );
    expect((await page.cookies()).map(({ name }) => name).toSorted()).toEqual([
      "trk_cid",
      "trk_fcid",
    ]);
    await page.untilHref("#l", `/x?click_id=${id}`);
    // The answer's header `X-Tracker-Conversion`.
    expect((await page.convert('{txid: "neutral-1"}')).outcome).toBe("approved");
  });

  test("a partner's click replaces an organic one, and no later visit restores that (SDK-012, T67)", async () => {
    const attributes = `data-organic data-offer="${OFFER}"`;
    const first = await world.visit({ attributes, referer: "http://www.google.com/" });
    const organic = await first.knownClickId();
    const partner = await world.partnerClick();
    const second = await world.visitAgain({ attributes, query: `?click_id=${partner}` });
    expect(await second.clickId()).toBe(partner);
    expect(await second.stored("trk_cid")).toBe(partner);
    expect(await second.stored("trk_fcid")).toBe(organic);
    const third = await world.visitAgain({ attributes, referer: "http://www.bing.com/" });
    expect(await third.clickId()).toBe(partner);
    expect(third.landings).toEqual([]);
  });

  test("a known click is kept for 90 days in both stores; later pages skip /lp (SDK-027, SDK-013)", async () => {
    const attributes = `data-offer="${OFFER}" data-organic`;
    const first = await world.visit({ attributes });
    const id = await first.knownClickId();
    for (const name of ["trk_cid", "trk_fcid"]) {
      expect(await first.stored(name)).toBe(id);
      const cookie = (await first.cookies()).find((one) => one.name === name);
      expect(cookie).toMatchObject({ value: id, domain: ".shop.test" });
      const days = ((cookie?.expires ?? 0) - Date.now() / 1000) / DAY_SECONDS;
      expect(Math.round(days)).toBe(90);
    }
    const until = await first.stored("trk_cid_until");
    const second = await world.visitAgain({ attributes });
    expect(await second.clickId()).toBe(id);
    expect(second.landings).toEqual([]);
    expect((await second.cookies()).map(({ name }) => name).toSorted()).toEqual([
      "trk_cid",
      "trk_fcid",
    ]);
    // Its age counts from the arrival of the click, not from the last visit.
    expect(await second.stored("trk_cid_until")).toBe(until);
  });

  test("a stored click is read from local storage, else from the cookie (SDK-006)", async () => {
    const first = await world.visit();
    await first.run(
      `localStorage.setItem("trk_cid", "${MADE_UP}"); document.cookie = "trk_cid=${OTHER_MADE_UP}; path=/"`,
    );
    const second = await world.visitAgain();
    expect(await second.clickId()).toBe(MADE_UP);
    await second.run("localStorage.clear()");
    expect(await (await world.visitAgain()).clickId()).toBe(OTHER_MADE_UP);
  });

  test("/lp times out after exactly 5 seconds, and a later answer changes nothing (SDK-011)", async () => {
    const held: (() => Promise<void>)[] = [];
    const page = await world.visit({
      attributes: DIRECT,
      prepare: async (tab) => {
        await tab.clock.install({ time: 0 });
        await tab.clock.pauseAt(1_000);
        await tab.route("**/lp", (route) => {
          held.push(() =>
            route.fulfill({
              status: 200,
              headers: { "access-control-allow-origin": "*" },
              body: `{"click_id":"${MADE_UP}"}`,
            }),
          );
        });
      },
    });
    await page.run("window.calls = []; Tracker.push(function (id) { calls.push(id); })");
    const calls = (): Promise<unknown> => page.page.evaluate("window.calls");
    await page.page.clock.runFor(4_999);
    expect(await calls()).toEqual([]);
    expect(await page.lastError()).toBeNull();
    await page.page.clock.runFor(1);
    expect(await calls()).toEqual([null]);
    expect(await page.lastError()).toBe("no answer within 5 seconds");
    expect(page.warnings).toEqual(["Tracker: no answer within 5 seconds"]);
    for (const answer of held) await answer();
    expect(await page.clickId()).toBeNull();
  });

  test("the script works on a page that broke the browser's own functions (SDK-026)", async () => {
    const page = await world.visit({
      query: `?click_id=${MADE_UP}`,
      before: `<script>
        Object.prototype.inherited = function () {};
        window.console.warn = undefined;
        Object.defineProperty(window, "localStorage", { get: function () { throw new Error("no"); } });
      </script><form id="Tracker"></form>`,
    });
    expect(await page.clickId()).toBe(MADE_UP);
    const sale = await page.convert("{}");
    expect(Object.keys(sale.sent).toSorted()).toEqual(["click_id", "js", "r"]);
  });
});

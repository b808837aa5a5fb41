import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../browser/chromium-program.ts";
import { LandingWorld } from "../../browser/landing-world.ts";
import { OFFER, PARTNER, PLAIN, PLAIN_OFFER, TRACK } from "../../browser/shop-seed.ts";

const MADE_UP = "0123456789abcdef0123456789abcdef";
const OTHER_MADE_UP = "fedcba9876543210fedcba9876543210";
const program = findChromium();

describe.skipIf(program === undefined)("the click behind a visit", () => {
  let world: LandingWorld;
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
  });
  afterEach(() => world.endVisits());
  afterAll(() => world.close());

  /** The URL of the demo's transparent link, as an ad platform's tracking template builds it. */
  const throughTemplate =
    (adId: string) =>
    (pageUrl: string): string =>
      `${TRACK}/c/demo-shop-anna?${adId}&url=${encodeURIComponent(pageUrl)}`;

  test.each([
    [`?a=1&click_id=X&tid=${OTHER_MADE_UP}`, ""],
    ["?ref=123&click_id=X", 'data-param="ref"'],
    ["?click_id=X&gclid=G-1", ""],
  ])(
    "the id in %s is used as it is, without a call of /lp (SDK-003, SDK-004)",
    async (query, attributes) => {
      const page = await world.visit({ query: query.replace("X", MADE_UP), attributes });
      expect(await page.clickId()).toBe(MADE_UP);
      expect(page.landings).toEqual([]);
    },
  );

  test.each([
    ["#/p?click_id=X", ""],
    ["#!/p?a=1&tid=X", ""],
    ["#click_id=X", ""],
    ["#/p?ref=X", 'data-param="ref"'],
    ["?click_id=not-hex#/p?click_id=X", ""],
    [`?click_id=X#/p?click_id=${OTHER_MADE_UP}`, ""],
  ])("the id behind # in %s is used as it is (SDK-004, G247)", async (query, attributes) => {
    const page = await world.visit({ query: query.replace("X", MADE_UP), attributes });
    expect(await page.clickId()).toBe(MADE_UP);
    expect(page.landings).toEqual([]);
  });

  test("a gclid behind # finds the click of the tracking template (SDK-005, G247)", async () => {
    const adId = `gclid=HASH-${Date.now()}`;
    const page = await world.visit({ query: `#/p?${adId}`, through: throughTemplate(adId) });
    expect(await world.click(await page.knownClickId())).toMatchObject({
      link_type: "transparent",
      gclid: adId.split("=")[1],
    });
  });

  test.each(["pushState", "replaceState", "hash"])(
    "an id that arrives by %s is used from then on, also in links (G247)",
    async (way) => {
      const body =
        '<a id="macro" href="https://shop.example/?c={click_id}">a</a><a id="param" href="/b" data-trk>b</a>';
      const page = await world.visit({ body });
      expect(await page.clickId()).toBeNull();
      const goTo = async (id: string): Promise<void> =>
        await page.run(
          way === "hash"
            ? `location.hash = "/p?click_id=${id}"`
            : `history.${way}(null, "", "/next?click_id=${id}")`,
        );
      for (const id of [MADE_UP, OTHER_MADE_UP]) {
        await goTo(id);
        await page.untilHref("#macro", `https://shop.example/?c=${id}`);
        await page.untilHref("#param", `/b?click_id=${id}`);
        expect(await page.clickId()).toBe(id);
        expect(await page.stored("trk_cid")).toBe(id);
      }
      expect(await page.stored("trk_fcid")).toBe(MADE_UP);
      expect(page.landings).toEqual([]);
    },
  );

  test("history works as before, and going back brings the earlier id (G247)", async () => {
    const page = await world.visit({ body: '<a id="param" href="/b" data-trk>b</a>' });
    for (const id of [MADE_UP, OTHER_MADE_UP])
      await page.run(`history.pushState({ of: "${id}" }, "", "/next?click_id=${id}")`);
    expect(await page.page.evaluate("history.state")).toEqual({ of: OTHER_MADE_UP });
    await page.untilHref("#param", `/b?click_id=${OTHER_MADE_UP}`);
    await page.run("history.back()");
    await page.untilHref("#param", `/b?click_id=${MADE_UP}`);
  });

  test("a gclid that arrives by pushState is looked up once (G247)", async () => {
    const adId = `gclid=PUSHED-${Date.now()}`;
    const page = await world.visit({ through: throughTemplate(adId) });
    expect(await page.clickId()).toBeNull();
    await page.run(
      `history.pushState(null, "", "/next?${adId}"); history.pushState(null, "", "/more?${adId}")`,
    );
    await expect.poll(async () => await page.clickId()).not.toBeNull();
    expect(page.landings).toHaveLength(1);
    expect(await world.click(await page.knownClickId())).toMatchObject({
      link_type: "transparent",
    });
  });

  test.each([
    `?click_id=${MADE_UP}0`,
    "?click_id=01234567-89ab-cdef-0123-456789abcdef",
    `?click_id=${MADE_UP.replace("f", "g")}`,
    `?ref=${MADE_UP}`,
    `?Click_ID=${MADE_UP}`,
    "?%E0%A4%A=1&__proto__=1&click_id",
  ])(
    "without an id in %j and without attributes there is no click (SDK-004, SDK-010, T22)",
    async (query) => {
      const page = await world.visit({ query });
      expect(await page.clickId()).toBeNull();
      expect(page.landings).toEqual([]);
      expect(await page.stored("trk_cid")).toBeNull();
      expect(page.warnings).toEqual([]);
    },
  );

  test.each(["gclid", "gbraid", "wbraid"])(
    "a landing with %s finds the click of the tracking template (SDK-005, LP-004, LP-005, T49)",
    async (kind) => {
      const adId = `${kind}=AD-${kind}-${Date.now()}`;
      const attributes = `data-offer="${OFFER}"`;
      const through = throughTemplate(adId);
      const page = await world.visit({ attributes, query: `?${adId}`, through });
      const id = await page.knownClickId();
      // The redirect also set cookies that only the tracking domain can read.
      const ofTracker = await page.page.context().cookies(TRACK);
      expect(ofTracker).toMatchObject([
        { name: "trk_cid", value: id, httpOnly: true },
        { value: id },
      ]);
      expect(page.landings).toHaveLength(1);
      expect(await world.click(id)).toMatchObject({
        link_type: "transparent",
        [kind]: adId.split("=")[1],
      });
    },
  );

  test("an unknown ad id becomes a direct click with the values of the URL (SDK-005, SDK-009, LP-006)", async () => {
    const gclid = `nobody-${Date.now()}`;
    const attributes = `data-offer="${OFFER}"`;
    const page = await world.visit({ attributes, query: `?gclid=${gclid}&sub1=a%20b&sub2=c` });
    const click = await world.click(await page.knownClickId());
    expect(click).toMatchObject({
      link_type: "direct",
      status: "none",
      status_reason: "lp",
      gclid,
      sub1: "a b",
      sub2: "c",
    });
  });

  test.each([
    ["http://news.google.co.uk/", "google", "news.google.co.uk"],
    ["http://www.bing.com/", "bing", "www.bing.com"],
    ["http://l.facebook.com/", "facebook", "l.facebook.com"],
    ["http://t.co/", "x", "t.co"],
    ["http://x.com/", "x", "x.com"],
    ["http://netflix.com/", "referral", "netflix.com"],
    ["http://google.com.blog.example/", "referral", "google.com.blog.example"],
    ["http://shop.test/", "direct", ""],
    [undefined, "direct", ""],
  ])(
    "a visit from %s is an organic click of the platform %s (SDK-007, SDK-008, LP-018)",
    async (referer, platform, host) => {
      const path = `/landing/${platform}`;
      const page = await world.visit({
        path,
        query: "?q=1",
        attributes: `data-organic data-aff="${PARTNER}"`,
        ...(referer === undefined ? {} : { referer }),
      });
      const click = await world.click(await page.knownClickId());
      expect(page.landings).toHaveLength(1);
      expect(click).toMatchObject({
        link_type: "organic",
        status: "none",
        status_reason: "organic",
        sub1: platform,
        sub2: host,
        sub3: path,
        partner: "Organic",
      });
    },
  );

  test("without an organic partner a visit becomes a direct click and reports why (SDK-007, SDK-009)", async () => {
    const attributes = `data-organic data-offer="${PLAIN_OFFER}"`;
    const page = await world.visit({ track: PLAIN, attributes });
    await page.knownClickId();
    expect(page.landings.map(({ organic }) => organic)).toEqual([true, undefined]);
    expect(await page.lastError()).toBe("unknown affiliate");
  });

  test.each([
    ["its own URL", { scriptQuery: `?offer=${OFFER}&aff=${PARTNER}&v=2#x` }],
    [
      "a queue",
      {
        before: `<script>Tracker = []; Tracker.offer = "${OFFER}"; Tracker.aff = "${PARTNER}"</script>`,
      },
    ],
    [
      "window.Tracker",
      { before: `<script>window.Tracker = { offer: "${OFFER}", aff: "${PARTNER}" }</script>` },
    ],
    [
      "its attributes first",
      {
        attributes: `data-offer="${OFFER}"`,
        scriptQuery: `?offer=NONE&aff=${PARTNER}`,
        before: "<script>Tracker = { aff: 5 }</script>",
      },
    ],
  ])("the script takes its options from %s (SDK-003, G256)", async (_where, options) => {
    const page = await world.visit(options);
    await page.knownClickId();
    expect(page.landings).toMatchObject([{ offer: OFFER, aff: PARTNER }]);
    expect(page.warnings).toEqual([]);
  });

  test.each([
    ["organic", true],
    ["organic=1", true],
    ["organic=false", false],
    ["organic=0", false],
  ])(
    "the option %s in the URL of the script means organic: %s (G256)",
    async (query, isOrganic) => {
      const page = await world.visit({ scriptQuery: `?${query}&param=ref`, query: "?ref=x" });
      expect((await page.clickId()) !== null).toBe(isOrganic);
    },
  );

  test("a parameter that the URL of the script names is looked for in the address (G256)", async () => {
    const page = await world.visit({ scriptQuery: "?param=ref", query: `?ref=${MADE_UP}` });
    expect(await page.clickId()).toBe(MADE_UP);
  });

  test.each(["false", "0"])("data-organic=%s means not organic (SDK-003)", async (value) => {
    const page = await world.visit({ attributes: `data-organic="${value}"` });
    expect(await page.clickId()).toBeNull();
    expect(page.landings).toEqual([]);
  });

  test("a stored value older than 90 days or without a click id is ignored (SDK-006, G163)", async () => {
    const first = await world.visit();
    await first.run(
      `localStorage.setItem("trk_cid", "${MADE_UP}"); localStorage.setItem("trk_cid_until", String(Date.now() - 1));
       document.cookie = "trk_cid=nothing; path=/"`,
    );
    expect(await (await world.visitAgain()).clickId()).toBeNull();
  });

  test.each([
    ["a.b.shop.co.uk", ".shop.co.uk"],
    ["www.shop.test", ".shop.test"],
    ["localhost", "localhost"],
    ["127.0.0.1", "127.0.0.1"],
  ])("on %s the cookie is set for %s (G163)", async (host, domain) => {
    const page = await world.visit({ origin: `http://${host}`, query: `?click_id=${MADE_UP}` });
    expect(await page.clickId()).toBe(MADE_UP);
    const stored = (await page.cookies()).map((cookie) => `${cookie.name} of ${cookie.domain}`);
    expect(stored.toSorted()).toEqual([`trk_cid of ${domain}`, `trk_fcid of ${domain}`]);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium, findWholeChromium } from "../../browser/chromium-program.ts";
import { LandingPage } from "../../browser/landing-page.ts";
import { LandingWorld } from "../../browser/landing-world.ts";
import { OFFER, PARTNER, SHOP, TRACK, TRACK_HOST } from "../../browser/shop-seed.ts";

const MADE_UP = "0123456789abcdef0123456789abcdef";
const DIRECT = `data-offer="${OFFER}" data-aff="${PARTNER}"`;
const OPEN = { "access-control-allow-origin": "*" };
const BLOCKED_PAGE = `<!doctype html><script src="${TRACK}/sdk.js" ${DIRECT}></script><a id="l" data-trk href="/x">x</a>`;
const program = findChromium();
const whole = findWholeChromium();

describe.skipIf(program === undefined)("a page whose tracking fails", () => {
  let world: LandingWorld;
  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
  });
  afterEach(() => world.endVisits());
  afterAll(() => world.close());

  test("/sdk.js may be used on any origin, and browsers cache it for an hour (SDK-001, ENV-032, G164)", async () => {
    const { client } = world;
    const url = `${client.demo.tracking_url}/sdk.js`;
    const answer = await client.attempt(url);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toMatch(/^(text|application)\/javascript/);
    expect(answer.headers["cache-control"]).toBe("public, max-age=3600");
    const etag = String(answer.headers["etag"]);
    expect((await client.attempt(url, { "if-none-match": etag })).status).toBe(304);
    const page = await world.visit();
    expect(await page.page.evaluate("Object.keys(Tracker).sort()")).toEqual(
      expect.arrayContaining(["clickId", "conversion", "error", "push"]),
    );
  });

  test("a refusal is shown by Tracker.error() and the console, and the page works on (SDK-020)", async () => {
    const page = await world.visit({
      attributes: 'data-offer="NOSUCHOFFER"',
      body: '<p id="p">x</p>',
    });
    expect(await page.clickId()).toBeNull();
    expect(await page.lastError()).toBe("unknown offer");
    expect(page.warnings).toEqual(["Tracker: unknown offer"]);
    expect(await page.page.textContent("#p")).toBe("x");
  });

  test.each([
    [
      "an outage",
      { status: 503, headers: OPEN, body: '{"error":"click store unavailable"}' },
      "click store unavailable",
    ],
    ["an answer of a proxy", { status: 502, headers: OPEN, body: "<html>" }, "HTTP 502"],
    ["a page instead of JSON", { status: 200, headers: OPEN, body: "<html>" }, "HTTP 200"],
    ["another id", { status: 200, headers: OPEN, body: '{"click_id":"7"}' }, "HTTP 200"],
    ["null", { status: 200, headers: OPEN, body: "null" }, "HTTP 200"],
    ["no connection", undefined, "request failed"],
  ])(
    "after %s the visitor has no click, and no other kind is requested (SDK-020, G162)",
    async (_, answer, error) => {
      const page = await world.visit({
        attributes: `${DIRECT} data-organic`,
        query: "?gclid=G-1",
        prepare: (tab) =>
          tab.route("**/lp", (route) =>
            answer === undefined ? route.abort() : route.fulfill(answer),
          ),
      });
      expect(await page.clickId()).toBeNull();
      expect(await page.lastError()).toBe(error);
      expect(page.warnings).toContain(`Tracker: ${error}`);
      expect(page.landings).toHaveLength(1);
      expect(await page.stored("trk_cid")).toBeNull();
    },
  );

  test("with a stored click, an outage of /lp loses only the ad's own click (SDK-005, SDK-011)", async () => {
    const page = await world.visit({
      query: `?click_id=${MADE_UP}`,
      prepare: (tab) => tab.route("**/lp", (route) => route.abort()),
    });
    await page.knownClickId();
    await page.page.goto(`${page.page.url().split("?")[0] ?? ""}?gclid=G-2`);
    expect(await page.clickId()).toBe(MADE_UP);
  });

  test("a pixel that fails to load is reported (SDK-020)", async () => {
    const page = await world.visit({
      query: `?click_id=${MADE_UP}`,
      prepare: (tab) => tab.route("**/px?*", (route) => route.abort()),
    });
    await page.run("Tracker.conversion({})");
    await page.page.waitForFunction("Tracker.error() !== null");
    expect(page.warnings).toEqual(["Tracker: conversion not sent"]);
  });

  test("a callback that throws is reported, and the others still run (SDK-020, SDK-026)", async () => {
    const page = await world.visit({ query: `?click_id=${MADE_UP}` });
    await page.run('Tracker.push(function () { throw new Error("of the page"); })');
    expect(await page.clickId()).toBe(MADE_UP);
    expect(await page.lastError()).toBe("of the page");
  });

  test("clicks, links and conversions work in a frame where storage and cookies throw (SDK-026)", async () => {
    const id = await world.partnerClick();
    const inner = await world.visit({
      attributes: `data-offer="${OFFER}"`,
      path: "/inner",
      body: '<a id="l" data-trk href="/x">x</a>',
    });
    expect(await inner.clickId()).not.toBeNull();
    const src = `${SHOP}/inner?click_id=${id}`;
    world.pages.put("/outer", `<iframe sandbox="allow-scripts" src="${src}"></iframe>`);
    const answered = inner.page.waitForResponse((response) => response.url().includes("sandbox-1"));
    await inner.page.goto(`${SHOP}/outer`);
    const frame = inner.page.frames()[1];
    expect(
      await frame?.evaluate(
        "(function () { try { return document.cookie } catch (e) { return e.name } })()",
      ),
    ).toBe("SecurityError");
    expect(await frame?.evaluate("Tracker.clickId()")).toBe(id);
    expect(await frame?.getAttribute("#l", "href")).toBe(`/x?click_id=${id}`);
    await frame?.evaluate('Tracker.conversion({txid: "sandbox-1"})');
    expect(await (await answered).headerValue("x-tracker-conversion")).toBe("approved");
    expect(await frame?.evaluate("Tracker.error()")).toBeNull();
    // Without an ID in the URL the script calls /lp, which must also answer the opaque origin `null`.
    await frame?.goto(`${SHOP}/inner`);
    const pushed = "new Promise(function (done) { Tracker.push(done) })";
    expect(await frame?.evaluate(pushed)).toMatch(/^[0-9a-f]{32}$/);
  });

  test.skipIf(whole === undefined)(
    "in a browser that blocks cookies and storage the page works, each visit is new (SDK-026)",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "tracker-browser-"));
      await mkdir(join(folder, "Default"));
      const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
      await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(preferences));
      const context = await chromium.launchPersistentContext(folder, {
        ...world.launch,
        executablePath: whole ?? "",
      });
      try {
        const page = new LandingPage(await context.newPage(), world.pageErrors);
        world.pages.put("/blocked", BLOCKED_PAGE);
        const open = (query: string): Promise<unknown> => page.page.goto(`${SHOP}/blocked${query}`);
        await open(`?click_id=${MADE_UP}`);
        expect(await page.page.evaluate("document.cookie = 'a=b', document.cookie")).toBe("");
        await expect(page.stored("trk_cid")).rejects.toThrow(/denied/);
        expect(await page.clickId()).toBe(MADE_UP);
        expect(await page.lastError()).toBeNull();
        expect(await page.href("#l")).toBe(`/x?click_id=${MADE_UP}`);
        await open("");
        const made = await page.knownClickId();
        expect((await page.convert('{txid: "blocked-1"}')).outcome).toBe("approved");
        await open("");
        expect(await page.knownClickId()).not.toBe(made);
      } finally {
        await context.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  );

  test("over TLS the cookie is Secure, and the script calls its own origin (G163, G165)", async () => {
    const context = await world.browser.newContext();
    const page = new LandingPage(await context.newPage(), world.pageErrors);
    await relayTls(page.page, world);
    await page.page.goto("https://shop.test/tls");
    const id = await page.knownClickId();
    const cookies = await context.cookies("https://shop.test/");
    expect(
      cookies.map(({ name, value, secure, sameSite }) => ({ name, value, secure, sameSite })),
    ).toEqual([
      { name: "trk_cid", value: id, secure: true, sameSite: "Lax" },
      { name: "trk_fcid", value: id, secure: true, sameSite: "Lax" },
    ]);
    expect((await page.convert('{txid: "tls-1"}')).outcome).toBe("approved");
  });
});

/** Acts as the TLS end of a tracking domain: passes every request on to the service. */
async function relayTls(page: Page, world: LandingWorld): Promise<void> {
  await page.route("https://track.test/**", async (route) => {
    const { pathname, search } = new URL(route.request().url());
    const url = `${world.client.demo.tracking_url}${pathname}${search}`;
    const headers = { ...route.request().headers(), host: TRACK_HOST };
    await route.fulfill({ response: await route.fetch({ url, headers }) });
  });
  const html = `<!doctype html><script src="https://track.test/sdk.js" ${DIRECT}></script>`;
  await page.route("https://shop.test/**", (route) =>
    route.fulfill({ contentType: "text/html", body: html }),
  );
}

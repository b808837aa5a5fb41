import assert from "node:assert";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Route,
} from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Demo } from "../../../deploy/local/demo-file.ts";
import { findChromium } from "../../browser/chromium-program.ts";
import { HANG_MS } from "../../system/until.ts";

const program = findChromium();

describe.skipIf(program === undefined)("the reader's own codes in the guide", () => {
  let demo: Demo;
  let origin = "";
  let browser: Browser;
  beforeAll(async () => {
    const answer = await fetch(inject("landingServiceUrl"));
    assert(answer.ok, `the service did not start: HTTP ${answer.status}`);
    demo = Demo.parse(await answer.json());
    ({ origin } = new URL(demo.base_url));
    const isRoot = process.getuid?.() === 0;
    const args = isRoot ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath: program ?? "", args });
  });
  afterAll(() => browser.close());

  const open = async (path: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(HANG_MS);
    const page = await context.newPage();
    await page.goto(`${origin}${path}`);
    return page;
  };
  const fillIn = async (page: Page, key: string): Promise<void> => {
    await page.locator(".own-codes summary").click();
    await page.locator(".own-codes input").fill(key);
    await page.locator(".own-codes form button").first().click();
    await page.locator(".own-codes select").first().waitFor();
    await page.locator(".filled").first().waitFor();
  };
  const textOf = async (page: Page, place: string): Promise<string> =>
    (await page.locator(place).first().textContent()) ?? "";
  const firstExample = async (page: Page): Promise<string> => await textOf(page, "pre code");

  test("an admin's key fills in the token, and the key goes only to this API and into no storage", async () => {
    const page = await open("/docs/postback");
    const faults: string[] = [];
    page.on("console", (message) => faults.push(message.text()));
    const sent: [url: string, key: string | undefined][] = [];
    page.on("request", (request) => {
      sent.push([request.url(), request.headers()["authorization"]]);
    });
    await expect.poll(() => firstExample(page)).toContain("token=$POSTBACK_TOKEN");
    await fillIn(page, demo.keys.admin);
    await expect.poll(() => firstExample(page)).toContain(`token=${demo.postback_token}`);
    expect(sent.length).toBeGreaterThan(4);
    for (const [url, key] of sent) {
      expect([url.startsWith(`${demo.base_url}/`), key]).toEqual([
        true,
        `Bearer ${demo.keys.admin}`,
      ]);
      expect(url).not.toContain(demo.keys.admin);
    }
    const kept = String(
      await page.evaluate(
        "JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])",
      ),
    );
    expect(kept).not.toContain(demo.keys.admin);
    expect(kept).not.toContain(demo.postback_token);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("another offer and partner can be chosen, other pages of the tab show them, and Forget undoes it", async () => {
    const page = await open("/docs/links");
    await fillIn(page, demo.keys.analyst);
    await page.locator(".own-codes select").nth(0).selectOption("DEMOTRIAL");
    await page.locator(".own-codes select").nth(1).selectOption("DEMOBOB");
    const example = page.locator("pre code", { hasText: "/r/DEMOTRIAL/DEMOBOB" }).first();
    await example.waitFor();
    await page.goto(`${origin}/docs/pixels`);
    await expect.poll(() => textOf(page, "main")).toContain("/r/DEMOTRIAL/DEMOBOB");
    await page.goto(`${origin}/docs/postback`);
    await expect.poll(() => firstExample(page)).toContain("token=$POSTBACK_TOKEN");
    await page.locator(".own-codes summary").click();
    await page.getByRole("button", { name: "Forget" }).click();
    await expect.poll(() => firstExample(page)).toContain("/r/DEMOSHOP/DEMOANNA");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.context().close();
  });

  test("an answer that comes after a later choice or after Forget changes nothing", async () => {
    const page = await open("/docs/links");
    await fillIn(page, demo.keys.analyst);
    const late: Route[] = [];
    await page.route("**/api/v1/tracking-link?*DEMOTRIAL*DEMOANNA*", (route) => late.push(route));
    await page.route("**/api/v1/tracking-link?*DEMOSALE*", (route) => late.push(route));
    const [offer, partner] = [0, 1].map((at) => page.locator(".own-codes select").nth(at));
    await offer?.selectOption("DEMOTRIAL");
    await expect.poll(() => late.length).toBe(1);
    await partner?.selectOption("DEMOBOB");
    await page.locator("pre code", { hasText: "/r/DEMOTRIAL/DEMOBOB" }).first().waitFor();
    await late[0]?.continue();
    await offer?.selectOption("DEMOSALE");
    await expect.poll(() => late.length).toBe(2);
    expect(await textOf(page, "main")).toContain("/r/DEMOTRIAL/DEMOBOB");
    await page.getByRole("button", { name: "Forget" }).click();
    await late[1]?.continue();
    await page.waitForLoadState("networkidle");
    expect(await textOf(page, "main")).not.toContain("DEMOBOB");
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.context().close();
  });

  test("a partner's key shows its own link and no token; a wrong key says what is wrong", async () => {
    const page = await open("/docs/postback");
    await page.locator(".own-codes summary").click();
    await page.locator(".own-codes input").fill("trk_live_wrong");
    await page.locator(".own-codes form button").first().click();
    await page.getByText("This did not work").waitFor();
    await page.reload();
    await fillIn(page, demo.keys.partner);
    const example = await firstExample(page);
    expect(example).toContain("token=$POSTBACK_TOKEN");
    expect(example).toMatch(/\/r\/\w+\/DEMOANNA/);
    await page.context().close();
  });

  test("without JavaScript the guide shows the demo's codes and no form", async () => {
    const page = await open("/docs/links", { javaScriptEnabled: false });
    const html = await page.content();
    expect(html).toContain("DEMOSHOP");
    expect(html).not.toContain('own-codes"');
    await page.context().close();
  });
});

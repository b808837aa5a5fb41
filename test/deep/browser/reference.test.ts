import assert from "node:assert";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { Demo } from "../../../deploy/local/demo-file.ts";
import { findChromium } from "../../browser/chromium-program.ts";
import { HANG_MS } from "../../system/until.ts";

const program = findChromium();
const WIDTHS = [360, 768, 1440];

describe.skipIf(program === undefined)("the API reference in a browser", () => {
  let browser: Browser;
  let origin = "";
  let page: Page;
  /** Errors of the console, which include violations of the policy, and exceptions. */
  const faults: string[] = [];

  beforeAll(async () => {
    const demo = Demo.parse(await (await fetch(inject("landingServiceUrl"))).json());
    origin = new URL(demo.base_url).origin;
    const isRoot = process.getuid?.() === 0;
    const args = isRoot ? ["--no-sandbox"] : [];
    browser = await chromium.launch({ executablePath: program ?? "", args });
    page = await openPage({ width: 1440, height: 900 });
  });
  afterEach(() => assert.deepEqual(faults.splice(0), []));
  afterAll(() => browser.close());

  async function openPage(
    viewport: { readonly width: number; readonly height: number },
    colorScheme: "light" | "dark" = "light",
  ): Promise<Page> {
    const permissions = ["clipboard-read", "clipboard-write"];
    const context = await browser.newContext({ viewport, colorScheme, permissions });
    context.setDefaultTimeout(HANG_MS);
    const opened = await context.newPage();
    opened.on("pageerror", (error) => faults.push(String(error)));
    opened.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    return opened;
  }

  async function open(path: string): Promise<void> {
    await page.goto(`${origin}/api/v1/docs${path}`);
  }

  test("the search finds a call by its name, and Enter opens it", async () => {
    await open("");
    await page.keyboard.press("/");
    await page.keyboard.type("create smart link");
    await page.locator("dialog li a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/smart-links#createSmartLink");
    const heading = page.locator("#createSmartLink h2");
    await expect.poll(async () => await heading.isVisible()).toBe(true);
  });

  test("the search finds fields and error codes; arrows choose and Escape closes", async () => {
    await open("/offers");
    await page.locator(".search-button").click();
    await page.keyboard.type("hold_days");
    const titles = page.locator("dialog li b");
    const first = async (): Promise<string | null> => await titles.first().textContent();
    await expect.poll(first).toBe("hold_days");
    await page.keyboard.press("ArrowDown");
    await page.locator('dialog li:nth-child(2) a[aria-selected="true"]').waitFor();
    expect(await page.locator('dialog [aria-selected="true"] b').count()).toBe(1);
    await page.locator("dialog input").fill("no_tracking_domain");
    await expect.poll(first).toBe("no_tracking_domain");
    await page.locator("dialog input").fill("zzzzzz");
    await expect
      .poll(async () => await page.locator("dialog ul").textContent())
      .toBe("Nothing found");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "hidden" });
  });

  test("a copy button copies the sample that is shown", async () => {
    await open("/offers#createOffer");
    const sample = page.locator('#createOffer .samples .code[data-language="sh"]');
    await sample.hover();
    // The word is there for two seconds.
    const copied = sample.locator(".copy").getByText("Copied").waitFor();
    await Promise.all([copied, sample.locator(".copy").click()]);
    const text = await page.evaluate("navigator.clipboard.readText()");
    expect(text).toBe(await sample.locator("code").textContent());
    expect(text).toMatch(/^curl "http.*\/offers" \\\n/);
  });

  test("a chosen language holds for all samples and on the next page", async () => {
    await open("/offers");
    const shown = page.locator(".samples .code:visible");
    const all = await page.locator(".samples").count();
    expect(all).toBeGreaterThan(4);
    await page.locator("#updateOffer").getByRole("tab", { name: "Python" }).click();
    const python = page.locator('.samples .code[data-language="python"]:visible');
    await expect.poll(async () => await python.count()).toBe(all);
    expect(await shown.count()).toBe(all);
    await open("/webhooks");
    await expect
      .poll(async () => await python.count())
      .toBe(await page.locator(".samples").count());
    await page.getByRole("tab", { name: "curl" }).first().click();
    await expect.poll(async () => await python.count()).toBe(0);
  });

  test("the sidebar marks the section that is being read", async () => {
    await open("/offers");
    const active = page.locator('nav a.section[aria-current="location"]');
    for (const [id, name] of [
      ["updateOffer", "Update an offer"],
      ["listOffers", "List offers"],
      ["schema-OfferSettings", "The offer settings record"],
    ] as const) {
      await page.evaluate(`document.getElementById("${id}").scrollIntoView()`);
      await page.locator(`nav a[aria-current="location"][href$="#${id}"]`).waitFor();
      await expect.poll(async () => await active.allTextContents()).toEqual([name]);
    }
  });

  test("a chosen theme is kept on the next page", async () => {
    await open("/offers");
    const background = async () =>
      await page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();
    await page.locator(".theme-button").click();
    await expect.poll(background).not.toBe(light);
    const dark = await background();
    await open("/errors");
    await expect.poll(background).toBe(dark);
    await page.locator(".theme-button").click();
    await expect.poll(background).toBe(light);
  });

  test("no page scrolls sideways on a phone, a tablet or a desktop", async () => {
    await open("");
    const html = await page.locator("nav").innerHTML();
    const paths = [...html.matchAll(/href="(\/api\/v1\/docs\/[\w-]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths.length).toBeGreaterThan(25);
    const other = await openPage({ width: 1440, height: 800 }, "dark");
    for (const path of ["/api/v1/docs", ...paths]) {
      await other.goto(`${origin}${path}`);
      for (const width of WIDTHS) {
        await other.setViewportSize({ width, height: 800 });
        const needed = await other.evaluate("document.documentElement.scrollWidth");
        expect([path, needed]).toEqual([path, width]);
      }
    }
    await other.context().close();
  });

  test("on a phone the menu opens and leads to another page", async () => {
    const phone = await openPage({ width: 360, height: 740 });
    await phone.goto(`${origin}/api/v1/docs/offers`);
    await phone.locator("nav").waitFor({ state: "hidden" });
    await phone.locator(".menu-button").click();
    await phone.locator("nav").getByRole("link", { name: "Webhooks", exact: true }).click();
    await phone.waitForURL("**/docs/webhooks");
    await expect.poll(async () => await phone.locator("h1").textContent()).toBe("Webhooks");
    await phone.context().close();
  });
});

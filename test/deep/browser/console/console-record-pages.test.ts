import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { field, press, question, RecordWorld, tab } from "./record-world.ts";

const program = findChromium();
const GONE = "Page not found, or you don't have access";
const MARKUP = '<img src="x" onerror="document.title=1">';

describe.skipIf(program === undefined)("pages of records", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test("a row opens the page of its record; tabs have addresses, and the way back keeps the filters", async () => {
    const id = await world.makeOffer({ name: "Paged offer", code: "PAGED", status: "paused" });
    const page = await world.open("/offers?q=PAGED&status=paused");
    await page.locator("tbody .cell-button").first().click();
    await page.waitForURL(`${world.base}/offers/${id}`);
    await page.getByRole("heading", { name: "Paged offer", level: 1 }).waitFor();
    await expect.poll(async () => await page.title()).toBe("Paged offer · Demo");
    expect(await tab(page, "Overview").getAttribute("aria-current")).toBe("page");
    await tab(page, "Caps").press("Enter");
    await page.waitForURL(`${world.base}/offers/${id}/caps`);
    // The keyboard stays at the tab, so that the next one is a Tab away.
    expect(await page.locator(":focus").textContent()).toBe("Caps");
    expect(await tab(page, "Caps").getAttribute("aria-current")).toBe("page");
    await page.getByText("No caps: every accepted click and conversion counts.").waitFor();
    await page.goBack();
    await page.waitForURL(`${world.base}/offers/${id}`);
    await page.goForward();
    await page.waitForURL(`${world.base}/offers/${id}/caps`);
    await page.locator(".crumbs").getByRole("link", { name: "Offers" }).click();
    await page.waitForURL(`${world.base}/offers?q=PAGED&status=paused`);
    await page.goto(`${world.base}/offers/${id}/caps`);
    await page.getByRole("heading", { name: "Caps" }).waitFor();
    await page.context().close();
  });

  test("addresses of older bookmarks and links of other screens lead to the page", async () => {
    const page = await world.open("/offers?status=active&open=1");
    await page.waitForURL(`${world.base}/offers/1`);
    await page.getByRole("link", { name: "Demo Shop" }).click();
    await page.waitForURL(`${world.base}/advertisers/1`);
    await page.getByRole("heading", { name: "Demo Shop", level: 1 }).waitFor();
    await page.goto(`${world.base}/partners?open=1`);
    await page.waitForURL(`${world.base}/partners/1`);
    await tab(page, "Offers and terms").click();
    await page.getByRole("link", { name: "Shop: fixed amount per order" }).click();
    await page.waitForURL(`${world.base}/offers/1`);
    await page.goto(`${world.base}/advertisers?open=1`);
    await expect.poll(() => page.url()).toBe(`${world.base}/advertisers/1`);
    await page.context().close();
  });

  test("a record that is not there, an ID that is none and a tab of nobody say so in words", async () => {
    const page = await world.open("/offers/999999");
    for (const path of ["/offers/999999", "/offers/DEMOSHOP", "/partners/0", "/advertisers/x/y"]) {
      await page.goto(world.base + path);
      await settled(page);
      expect([path, await page.locator("h1").allTextContents()]).toEqual([path, [GONE]]);
    }
    await page.goto(`${world.base}/offers/1/nothing`);
    await page.getByText("This part is not there").waitFor();
    await tab(page, "Overview").click();
    await page.getByRole("heading", { name: "Basics" }).waitFor();
    await page.context().close();
  });

  test("a part loads its data only when it is shown, and a part that the role may not read has no tab", async () => {
    const page = await browser.page("analyst");
    await page.route("**/api/v1/session", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/"audit\.read",?/g, "").replaceAll(",]", "]");
      await route.fulfill({ response, body });
    });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${browser.base("analyst")}/offers/1`);
    await settled(page);
    const creatives = (): number => asked.filter((url) => url.endsWith("/creatives")).length;
    expect(creatives()).toBe(0);
    expect(await tab(page, "History").count()).toBe(0);
    await tab(page, "Creatives").click();
    await page.getByRole("heading", { name: "Creatives" }).waitFor();
    await expect.poll(creatives).toBe(1);
    await settled(page);
    expect(creatives()).toBe(1);
    for (const title of ["Terms and events", "Caps", "Targeting", "Partners"]) {
      await tab(page, title).click();
      await settled(page);
      expect(
        await page.getByRole("button", { name: /^(Edit|Add|Give|Delete|Pause)/ }).count(),
      ).toBe(0);
    }
    await page.context().close();
  });

  test("a part with something typed is not left without a question: by a tab, a key, or Back", async () => {
    const id = await world.makeOffer({ name: "Edited offer" });
    const page = await world.open("/offers");
    await page.getByRole("button", { name: "Edited offer" }).click();
    await page.getByRole("heading", { name: "Edited offer", level: 1 }).waitFor();
    await page.getByLabel("Edit basics").click();
    await field(page, "Category").fill("half typed");
    const ways = [
      async () => await tab(page, "Caps").click(),
      async () => await page.locator(".crumbs a").click(),
      async () => await page.goBack(),
    ];
    for (const leave of ways) {
      await leave();
      await question(page).waitFor();
      expect(page.url()).toBe(`${world.base}/offers/${id}`);
      await press(page, "Keep editing");
      await question(page).waitFor({ state: "detached" });
      expect(await field(page, "Category").inputValue()).toBe("half typed");
    }
    await page.goBack();
    await press(page, "Discard");
    await page.waitForURL(`${world.base}/offers`);
    expect(await world.read(`/offers/${id}`)).toMatchObject({ category: "" });
    await page.context().close();
  });

  test("a part saves its own fields; a refusal stands above its button, and nothing typed is lost", async () => {
    const id = await world.makeOffer({ name: "Refused part", category: "kept" });
    const page = await world.open(`/offers/${id}/terms`);
    await page.getByLabel("Edit money").click();
    await field(page, "Payout value").fill("12,50 EUR");
    await press(page, "Save money");
    await page
      .locator(".field")
      .filter({ has: field(page, "Payout value") })
      .locator(".fault")
      .waitFor();
    const notice = page.locator("form .notice[role=alert]");
    const button = page.getByRole("button", { name: "Save money" });
    const [told, below] = await Promise.all([notice.boundingBox(), button.boundingBox()]);
    expect(told?.y).toBeLessThan(below?.y ?? 0);
    expect(await field(page, "Payout value").inputValue()).toBe("12,50 EUR");
    await field(page, "Payout value").fill("12.50");
    await button.click();
    await page.getByText("$12.50").first().waitFor();
    // What was saved is not asked about.
    await tab(page, "Caps").click();
    await page.waitForURL(/\/caps$/);
    expect(await world.read(`/offers/${id}`)).toMatchObject({
      payout: "12.5000",
      category: "kept",
    });
    await page.context().close();
  });

  test("a tab that is pressed while a part is being saved opens after the answer, without a question", async () => {
    const id = await world.makeOffer({ name: "Slowly saved" });
    const page = await world.open(`/offers/${id}/terms`);
    const release = await held(page, `**/api/v1/offers/${id}`, "PATCH");
    await page.getByLabel("Edit money").click();
    await field(page, "Payout value").fill("12.50");
    await press(page, "Save money");
    await tab(page, "Caps").click();
    expect(page.url()).toBe(`${world.base}/offers/${id}/terms`);
    release();
    await page.waitForURL(`${world.base}/offers/${id}/caps`);
    expect(await question(page).count()).toBe(0);
    expect(await world.read(`/offers/${id}`)).toMatchObject({ payout: "12.5000" });
    await page.context().close();
  });

  test("a tab that is pressed while a part is being saved asks first if the API refuses it", async () => {
    const id = await world.makeOffer({ name: "Slowly refused" });
    const page = await world.open(`/offers/${id}/terms`);
    const release = await held(page, `**/api/v1/offers/${id}`, "PATCH");
    await page.getByLabel("Edit money").click();
    await field(page, "Payout value").fill("twelve");
    await press(page, "Save money");
    await tab(page, "Caps").click();
    release();
    await question(page).waitFor();
    await press(page, "Keep editing");
    expect(await field(page, "Payout value").inputValue()).toBe("twelve");
    expect(page.url()).toBe(`${world.base}/offers/${id}/terms`);
    browser.forgive(/status of 400/);
    await page.context().close();
  });

  test("money of an offer is in its currency, and each cap stands there once", async () => {
    const caps = { conversions: { daily: 7 }, payout: { total: "90.5" } };
    const id = await world.makeOffer({ name: "In euro", currency: "EUR", payout: "3", caps });
    const page = await world.open(`/offers/${id}/caps`);
    const payout = page.locator(".tile", { hasText: "Payout" }).locator(".value");
    await expect.poll(async () => await payout.textContent()).toBe("€0.00");
    await page.getByText("0 of 7").waitFor();
    const text = await page.locator("main").innerText();
    expect(text.split("€90.50")).toHaveLength(2);
    expect(text.match(/of 7\b/g)).toHaveLength(1);
    await tab(page, "Overview").click();
    await field(page, "Metric").selectOption({ label: "Payout" });
    await page
      .getByRole("img", { name: /Payout/ })
      .first()
      .waitFor();
    expect(await page.locator("main").innerText()).not.toContain("$");
    await page.context().close();
  });

  test("while reports are away the page says so once, and its parts work", async () => {
    const page = await browser.page("admin");
    await page.route("**/api/v1/reports?*", async (route) => {
      const error = { code: "unavailable", message: "Reports are away." };
      await route.fulfill({ status: 503, json: { error } });
    });
    await page.goto(`${world.base}/offers/1/terms`);
    await page.locator(".notice.bad").waitFor();
    expect(await page.locator(".notice.bad").count()).toBe(1);
    await page.getByRole("heading", { name: "Events" }).waitFor();
    browser.forgive(/status of 503/);
    await page.context().close();
  });

  test("a name with markup and 200 letters stays text and inside 390 pixels", async () => {
    const name = `${MARKUP}${"W".repeat(200 - MARKUP.length)}`;
    const id = await world.make("/affiliates", { name });
    const page = await world.open(`/partners/${id}`, "admin", 390);
    expect(await page.locator("h1").textContent()).toBe(name);
    expect(await page.title()).toContain(MARKUP);
    expect(Number(await page.evaluate("document.documentElement.scrollWidth"))).toBeLessThanOrEqual(
      390,
    );
    await page.context().close();
  });

  test("a deleted offer leads to the list, and its address is gone", async () => {
    const id = await world.makeOffer({ name: "Short-lived" });
    const page = await world.open(`/offers/${id}`);
    await press(page, "Delete");
    await press(page, "Yes, delete");
    await page.waitForURL(`${world.base}/offers`);
    await page.goto(`${world.base}/offers/${id}`);
    await settled(page);
    expect(await page.locator("h1").allTextContents()).toEqual([GONE]);
    await page.context().close();
  });

  test("a partner's page shows who it is, what it may run, its link and its changes", async () => {
    const id = await world.make("/affiliates", { name: "Known partner", code: "KNOWNPAGE" });
    const page = await world.open(`/partners/${id}`);
    await page.getByText(`ID ${id}`, { exact: true }).waitFor();
    await page.getByLabel("Edit contact").click();
    await field(page, "Contact").fill("Ada");
    await press(page, "Save contact");
    await page.getByText("Ada").waitFor();
    await tab(page, "Payment").click();
    await page.getByLabel("Edit payment terms").click();
    await field(page, "Minimum payout").fill("75");
    await press(page, "Save payment terms");
    await page.getByText("75.00", { exact: true }).waitFor();
    await tab(page, "Offers and terms").click();
    await page.getByText("/r/DEMOSHOP/KNOWNPAGE").waitFor();
    await tab(page, "History").click();
    await expect
      .poll(async () => await page.locator("tbody code").allTextContents())
      .toEqual(Array.from({ length: 2 }, () => `rest PATCH /api/v1/affiliates/${id}`));
    await page.context().close();
  });
});

/** Holds requests of a method until the returned function is called. */
async function held(page: Page, url: string, method: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (route.request().method() === method) await released;
    await route.continue();
  });
  return () => release();
}

import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { chooseFirst } from "./choose.ts";

const program = findChromium();

describe.skipIf(program === undefined)("forms and words of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const open = async (role: Role, path: string): Promise<Page> => {
    const page = await browser.page(role);
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const press = async (page: Page, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();

  test("Escape, a click beside the drawer and Close lose nothing typed without a question (D4)", async () => {
    const page = await open("admin", "/rules?of=offer-groups");
    await press(page, "New offer group");
    const drawer = page.locator(".drawer");
    // Nothing was typed, so nothing is asked.
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await press(page, "New offer group");
    const name = drawer.getByLabel("Name", { exact: true });
    await name.fill("Half a group");
    const question = page.getByRole("dialog", { name: "Discard changes?" });
    const ways = [
      () => page.keyboard.press("Escape"),
      () => page.mouse.click(5, 5),
      () => drawer.getByRole("button", { name: "Close", exact: true }).click(),
    ];
    for (const leave of ways) {
      await leave();
      await question.waitFor();
      await press(page, "Keep editing");
      await question.waitFor({ state: "detached" });
      expect(await name.inputValue()).toBe("Half a group");
    }
    await page.keyboard.press("Escape");
    await press(page, "Discard");
    await drawer.waitFor({ state: "detached" });
    await page.context().close();
  });

  test("a browser that takes itself to be offline reads and writes on, as without the internet", async () => {
    const page = await open("admin", "/partners");
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await page.getByRole("link", { name: "Advertisers", exact: true }).click();
    await page.locator("main tbody tr").first().waitFor();
    await page.getByRole("link", { name: "Rules", exact: true }).click();
    await page.getByRole("link", { name: "Offer groups", exact: true }).click();
    await press(page, "New offer group");
    const drawer = page.locator(".drawer");
    await drawer.getByLabel("Name", { exact: true }).fill("A group without the internet");
    await chooseFirst(drawer, "Offers");
    await drawer.locator("button[type=submit]").click();
    const heading = page.locator(".drawer h2", { hasText: "A group without the internet" });
    await heading.waitFor();
    expect(await heading.count()).toBe(1);
    await page.context().close();
  });

  test("the fault of a write is told while lists are still read again", async () => {
    const page = await open("admin", "/rules?of=offer-groups");
    await press(page, "New offer group");
    const drawer = page.locator(".drawer");
    await drawer.getByLabel("Name", { exact: true }).fill("x".repeat(500));
    let isHeld = false;
    await page.route(/api\/v1\/(?:offer-groups|attention)/, async (route) => {
      if (route.request().method() !== "GET") return await route.continue();
      isHeld = true;
    });
    await drawer.getByRole("button", { name: /^(?:Create|Save)/ }).click();
    await drawer.locator(".fault").first().waitFor();
    await expect.poll(() => isHeld).toBe(true);
    await page.context().close();
  });

  test("what was saved is not asked about, a later change is (#39)", async () => {
    const page = await open("admin", "/rules?of=offer-groups");
    await press(page, "New offer group");
    const drawer = page.locator(".drawer");
    await drawer.getByLabel("Name", { exact: true }).fill("A whole group");
    await chooseFirst(drawer, "Offers");
    await drawer.locator("button[type=submit]").click();
    await page.locator(".drawer h2", { hasText: "A whole group" }).waitFor();
    await drawer.getByRole("button", { name: "Edit", exact: true }).click();
    await drawer.getByLabel("Name", { exact: true }).fill("A changed group");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard changes?" }).waitFor();
    await press(page, "Keep editing");
    await drawer.locator("form button[type=submit]").click();
    await page.locator(".drawer h2", { hasText: "A changed group" }).waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.context().close();
  });

  test("a refusal stands above the button that was pressed, in words and without field names (D6)", async () => {
    const page = await open("admin", "/offers");
    await press(page, "New offer");
    const form = page.locator(".steps-form form");
    await page.getByLabel("Name", { exact: true }).fill("Refused");
    await chooseFirst(page, "Advertiser");
    await page.getByLabel("Destination", { exact: true }).fill("no address");
    await page.getByRole("button", { name: "Review" }).click();
    await form.locator("button[type=submit]").click();
    const notice = form.locator(".notice[role=alert]");
    await notice.waitFor();
    expect(await notice.textContent()).not.toMatch(/[a-z]_[a-z]|wrong or missing|expected/);
    const [told, button] = await Promise.all([
      notice.boundingBox(),
      form.locator("button[type=submit]").boundingBox(),
    ]);
    expect(told?.y).toBeLessThan(button?.y ?? 0);
    const faults = await form.locator(".fault").allTextContents();
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.filter((fault) => /^[a-z]|expected/.test(fault))).toEqual([]);
    await page.context().close();
  });

  test("a report is filtered by the name of a partner and of a country, and says so (D2)", async () => {
    const page = await open("admin", "/reports");
    const add = async (dimension: string, sought: string, name: string): Promise<void> => {
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      const form = page.getByLabel("New filter");
      await form.getByLabel("Dimension").selectOption({ label: dimension });
      await form.getByLabel(`Find ${dimension}`).fill(sought);
      await form.getByRole("checkbox", { name }).check();
      await form.getByRole("button", { name: "Add" }).click();
      await page.locator(".badge", { hasText: `${dimension} is ${name}` }).waitFor();
    };
    await add("Partner", "anna", "Anna's blog");
    await add("Country", "germ", "Germany");
    const filters = new URL(page.url()).searchParams.get("filters") ?? "";
    expect(filters).toMatch(/^affiliate:in:\d+,country:in:DE$/);
    // A copied address says the same names.
    await page.reload();
    await page.locator(".badge", { hasText: "Partner is Anna's blog" }).waitFor();
    await page.locator(".badge", { hasText: "Country is Germany" }).waitFor();
    expect(await page.locator(".notice.bad").count()).toBe(0);
    await page.context().close();
  });

  test("a country without traffic is found by its name, and nothing else is taken for one (D3)", async () => {
    const page = await open("advertiser", "/reports");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    const form = page.getByLabel("New filter");
    await form.getByLabel("Dimension").selectOption({ label: "Country" });
    await form.getByLabel("Find Country").fill("Atlantis");
    await form.getByText("Nothing found.").waitFor();
    expect(await form.getByRole("button", { name: "Add" }).isDisabled()).toBe(true);
    await form.getByLabel("Find Country").fill("bhutan");
    await form.getByRole("checkbox", { name: "Bhutan" }).check();
    await form.getByRole("button", { name: "Add" }).click();
    await page.locator(".badge", { hasText: "Country is Bhutan" }).waitFor();
    await page.context().close();
  });

  test.each([
    ["admin", ["Revenue", "Payout"], ["Affiliate", "Cost", "Earnings"]],
    ["partner", ["Earnings"], ["Affiliate", "Payout", "Revenue"]],
    ["advertiser", ["Cost"], ["Affiliate", "Payout", "Revenue"]],
  ] as const)("the dashboard of %s says %j and not %j (D7)", async (role, said, unsaid) => {
    const page = await open(role, "/");
    await page.locator(".tile .value").first().waitFor();
    const tiles = await page.locator(".tile .name").allTextContents();
    expect(tiles).toEqual(expect.arrayContaining([...said]));
    const text = await page.locator("main").innerText();
    for (const word of unsaid) expect(text).not.toMatch(new RegExp(`\\b${word}\\b`, "i"));
    await page.context().close();
  });

  test("a slow network shows a frame within 2.5 s, long before the programs are there (D20)", async () => {
    const seen: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const page = await browser.page("partner");
      const session = await page.context().newCDPSession(page);
      await session.send("Network.enable");
      await session.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: 400,
        downloadThroughput: 50_000,
        uploadThroughput: 50_000,
      });
      await page.goto(`${browser.base("partner")}/`, { waitUntil: "commit" });
      await page.getByText("Loading the console").waitFor();
      const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0";
      await expect.poll(async () => Number(await page.evaluate(paint))).toBeGreaterThan(0);
      seen.push(Number(await page.evaluate(paint)));
      await page.context().close();
    }
    expect(Math.min(...seen)).toBeLessThan(2_500);
  });

  test("at 390 px no button squeezes a notice, and a long name ends with an ellipsis (D17, D18)", async () => {
    const page = await browser.page("admin", { width: 390 });
    await page.goto(`${browser.base("admin")}/?currency=EUR`);
    await settled(page);
    const note = page.getByRole("note");
    const [text, button] = await Promise.all([
      note.locator("span").first().boundingBox(),
      note.locator("button").first().boundingBox(),
    ]);
    // One line of text, which no button squeezes.
    expect(text?.height).toBeLessThan(30);
    expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual(390);
    await page.goto(`${browser.base("admin")}/reports?group_by=offer`);
    await settled(page);
    await page.locator(".cell-button").first().waitFor();
    const overflow = "getComputedStyle(document.querySelector('.cell-button')).textOverflow";
    expect(await page.evaluate(overflow)).toBe("ellipsis");
    await page.context().close();
  });

  test("sums on the dashboard have the coins of their currency (D14)", async () => {
    const page = await open("partner", "/");
    const label = page.getByText("Earnings", { exact: true });
    const earnings = page.locator(".tile", { has: label }).locator(".value");
    await expect.poll(async () => await earnings.textContent()).toMatch(/^\D*[\d.,]*[.,]\d\d\D*$/);
    await page.context().close();
  });
});

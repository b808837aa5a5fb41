import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  readAnswers,
  settled,
} from "../../../browser/console/console-browser.ts";
import { addMembership, changeOffer, keepPreferences, setTraffic } from "./changed-answers.ts";

const program = findChromium();
const PHONE = 390;
const LONG_NAME = `${"Shoes ".repeat(30)}<b>&amp;</b>`;

describe.skipIf(program === undefined)("each role in its own words", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const open = async (role: Role, path: string, width = 1440): Promise<Page> => {
    const page = await browser.page(role, { width });
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const press = async (page: Page, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();
  /** What a button has copied. */
  const copied = async (page: Page, label: string): Promise<string> => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await press(page, label);
    return await page.evaluate<string>("navigator.clipboard.readText()");
  };
  const prefer = async (page: Page, preferences: object): Promise<void> => {
    const status = await page.evaluate(async (body) => {
      const headers = { "content-type": "application/json", "x-tracker-membership": "0" };
      return (await fetch("/api/v1/person", { method: "PATCH", headers, body })).status;
    }, JSON.stringify({ preferences }));
    expect(status).toBe(200);
  };

  test("an advertiser copies an address that the service takes, and its token stays hidden until asked (#39)", async () => {
    const page = await open("advertiser", "/integration");
    const block = page.getByLabel("Server postback", { exact: true });
    await block.waitFor();
    expect(await block.textContent()).not.toMatch(/token=[0-9a-f]{32}/);
    const address = await copied(page, "Copy: Server postback");
    expect(address).toMatch(/\/pb\?token=[0-9a-f]{32}&click_id=CLICK_ID&txid=ORDER_ID/);
    expect(address.startsWith(`${browser.demo.tracking_url}/pb?`)).toBe(true);
    await press(page, "Show the token in the address");
    expect(await block.textContent()).toBe(address);
    // The token is taken: what is refused is the click that does not exist.
    const filled = address.replace("CLICK_ID", "0".repeat(32)).replace("=AMOUNT", "=49.90");
    const answer = await fetch(`${filled}&test=1`);
    expect(await answer.json()).toEqual({ ok: false, error: "unknown click_id" });
    expect(await page.getByLabel("Pixel, where no script may run").textContent()).not.toContain(
      "token",
    );
    await page.context().close();
  });

  test("an advertiser checks a call: what is wrong stands at its step, and what was typed stays (#39)", async () => {
    const page = await open("advertiser", "/integration");
    const call = page.getByLabel("Call", { exact: true });
    await call.fill(`click_id=${"0".repeat(32)}\ntxid=test-1`);
    await press(page, "Check the call");
    await page.getByText("It would be refused").waitFor();
    await page.locator("li", { hasText: "Click: Failed" }).getByText("unknown click_id").waitFor();
    await call.fill("offer_id=DEMOSHOP&aff_id=DEMOANNA&txid=test-of-the-console");
    await press(page, "Check the call");
    await page.getByText("It would be accepted").waitFor();
    await page.route("**/api/v1/me/test-postback", (route) => route.abort());
    await press(page, "Check the call");
    await page.getByText("No answer").waitFor();
    expect(await call.inputValue()).toContain("test-of-the-console");
    browser.forgive(/Failed to load resource/);
    await page.context().close();
  });

  test.each([
    ["admin", "/integrations", "/docs/partner-postbacks"],
    ["admin", "/integrations/webhooks", "/docs/webhooks"],
    ["admin", "/integrations/inbound", "/docs/postback"],
    ["admin", "/workspace/domains", "/docs/links"],
    ["admin", "/workspace/keys", "/api/v1/docs"],
    ["advertiser", "/integration", "/docs"],
    ["partner", "/offers/1", "/docs/sub-ids"],
  ] as const)(
    "the screen of %s at %s links to a page of the guide that exists: %s (#39)",
    async (role, path, href) => {
      const page = await open(role, path);
      await page.locator(`main a[href="${href}"]`).first().waitFor();
      expect((await fetch(browser.origin + href)).status).toBe(200);
      await page.context().close();
    },
  );

  test("a partner's offer says what is paid for what, and gives a link with sub IDs and a page (#39)", async () => {
    const page = await open("partner", "/offers");
    await page.locator("article h2 a").first().waitFor();
    await page.getByRole("link", { name: "Shop: fixed amount per order" }).click();
    await page.waitForURL(/\/offers\/\d+$/);
    await settled(page);
    await page.getByLabel("Sub 1", { exact: true }).fill("click & 7");
    await page.getByText("Sub 4 to 10").click();
    await page.getByLabel("Sub 10", { exact: true }).fill("ten");
    await page.getByLabel("Landing page").fill("https://shop.example/shoes?a=1");
    const link = page.locator("code", { hasText: "url=" });
    await link.filter({ hasText: "sub10=ten" }).waitFor();
    const url = new URL(await copied(page, "Copy the link"));
    expect(url.searchParams.get("sub1")).toBe("click & 7");
    expect(url.searchParams.get("sub10")).toBe("ten");
    expect(url.searchParams.get("url")).toBe("https://shop.example/shoes?a=1");
    await page.context().close();
  });

  test("the browser of a partner gets no revenue, advertiser or destination of its offer (P30)", async () => {
    const page = await browser.page("partner");
    const answers = readAnswers(page, (answer) => answer.url().includes("/api/v1/offers"));
    await page.goto(`${browser.base("partner")}/offers/1`);
    await settled(page);
    const texts = (await answers()).map(({ text }) => text).join("\n");
    expect(texts).toContain('"payout"');
    expect(texts).not.toMatch(/"(?:revenue\w*|advertiser\w*|destination_url|fallback_url|caps)"/);
    await page.context().close();
  });

  test("an offer that is not there says so, and an odd one breaks no screen (#39)", async () => {
    const page = await open("partner", "/offers/999999");
    await page.getByText("Page not found, or you don't have access").waitFor();
    await changeOffer(page, 1, {
      name: LONG_NAME,
      status: "paused",
      can_run: false,
      payout_type: "cps",
      payout: "5.0000",
      targeting: { countries_deny: ["DE"] },
    });
    await page.setViewportSize({ width: PHONE, height: 900 });
    await page.goto(`${browser.base("partner")}/offers/1`);
    await settled(page);
    await page.getByRole("heading", { name: LONG_NAME.trim() }).waitFor();
    await page.getByText("5% of the sale").first().waitFor();
    await page.getByText("All but Germany").waitFor();
    await page.getByText("This offer is paused").waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(
      PHONE,
    );
    await page.context().close();
  });

  test("a partner reads pending beside approved earnings, and no panel with itself (#39)", async () => {
    const page = await open("partner", "/");
    const tiles = await page.locator(".tile .name").allTextContents();
    expect(tiles.slice(2, 4)).toEqual(["Earnings", "Pending earnings"]);
    const panels = await page.locator("h2").allTextContents();
    expect(panels.filter((title) => /partner|affiliate/i.test(title))).toEqual([]);
    await page.context().close();
  });

  test("an empty workspace shows first steps with their state until they are put away (#39)", async () => {
    const page = await browser.page("admin");
    await setTraffic(page, { clicks: 0, gross_conversions: 0 });
    await page.route(/\/api\/v1\/offers\?limit=1$/, (route) =>
      route.fulfill({ json: { data: [], next_cursor: null } }),
    );
    await page.goto(`${browser.base("admin")}/`);
    await settled(page);
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.locator("li", { hasText: "Create an advertiser, done" }).waitFor();
    const offer = steps.locator("li", { hasText: "Create an offer, to do" });
    expect(await offer.getByRole("link").getAttribute("href")).toMatch(/\/offers\?new=1$/);
    expect(await steps.locator("li").count()).toBe(7);
    // In place of flat lines.
    const charts = page.getByRole("heading", { name: "By offer", exact: true });
    expect(await charts.count()).toBe(0);
    // The choice counts at once, before it is saved; a reload meanwhile would cancel the request.
    const saved = page.waitForResponse("**/api/v1/person");
    await press(page, "Don't show this again");
    await charts.waitFor();
    expect((await saved).request().method()).toBe("PATCH");
    await steps.waitFor({ state: "detached" });
    await page.reload();
    await settled(page);
    expect(await steps.count()).toBe(0);
    await prefer(page, { first_steps_hidden: null });
    await page.context().close();
  });

  test("a workspace with conversions shows its charts, and so does an analyst without any (#39)", async () => {
    for (const [role, conversions] of [
      ["admin", 1],
      ["analyst", 0],
    ] as const) {
      const page = await browser.page(role);
      const asked = await setTraffic(page, { clicks: 1, gross_conversions: conversions });
      await page.goto(`${browser.base(role)}/`);
      await settled(page);
      expect(asked()).toBeGreaterThan(0);
      expect(await page.getByRole("region", { name: "First steps" }).count()).toBe(0);
      await page.getByRole("heading", { name: "By offer", exact: true }).waitFor();
      await page.context().close();
    }
  });

  test("the workspace's token is hidden, and is replaced only after a question (#39)", async () => {
    const page = await open("admin", "/workspace");
    const token = await copied(page, "Copy the token");
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(await page.locator("main").textContent()).not.toContain(token);
    await press(page, "Show the token");
    await page.getByText(token, { exact: true }).waitFor();
    let replaced = 0;
    // Other files report with the token of this workspace, so it is not really replaced.
    await page.route("**/api/v1/workspace/rotate-postback-token", async (route) => {
      replaced += 1;
      const code = replaced === 1 ? "forbidden" : "internal_error";
      await route.fulfill({ status: 403, json: { error: { code, message: "not for this role" } } });
    });
    await press(page, "Replace it");
    await page.getByText("The current token stops working immediately.").waitFor();
    await press(page, "Keep it");
    expect(replaced).toBe(0);
    await press(page, "Replace it");
    await press(page, "Yes, replace it");
    await page.getByRole("alert").waitFor();
    expect(replaced).toBe(1);
    await page.context().close();
    const analyst = await open("analyst", "/workspace");
    expect(await analyst.getByRole("heading", { name: "Postback token" }).count()).toBe(0);
    await analyst.context().close();
  });

  test("the time zone and language of a person decide how times and money are written (#39)", async () => {
    const page = await browser.page("partner");
    const own = await keepPreferences(page);
    await page.goto(`${browser.base("partner")}/you`);
    await settled(page);
    const sample = page.getByText("Looks like");
    expect(await sample.textContent()).toContain("Nov 28, 2026, 8:30:00");
    await page.getByLabel("Time zone", { exact: true }).selectOption("Asia/Tokyo");
    await page.getByText("Nov 29, 2026, 5:30:00").waitFor();
    await page.getByLabel("Dates and numbers").selectOption("de-DE");
    await page.getByText("29.11.2026, 05:30:00").waitFor();
    await page.getByText("1.234,50").waitFor();
    expect(own()).toEqual({ timezone: "Asia/Tokyo", locale: "de-DE" });
    await page.goto(`${browser.base("partner")}/`);
    await settled(page);
    expect(await page.locator(".tile .value").nth(2).textContent()).toMatch(/^[\d.]+,\d\d/);
    await page.goto(`${browser.base("partner")}/you`);
    await page.getByLabel("Time zone", { exact: true }).selectOption("");
    await expect.poll(own).toEqual({ timezone: null, locale: "de-DE" });
    await page.context().close();
  });

  test("the workspace that was shown last opens again after the next sign-in (#39)", async () => {
    const page = await open("partner", "/offers");
    await addMembership(page, "other");
    await page.goto(`${browser.origin}/console/`);
    await page.waitForURL(`${browser.base("partner")}/`);
    await page.evaluate('localStorage.removeItem("last-place")');
    await page.goto(`${browser.origin}/console/`);
    await page.waitForURL(/\/w\/other\//);
    expect(await page.evaluate<string>('localStorage.getItem("last-place")')).toContain("/w/other");
    await page.context().close();
    browser.forgive(/./);
  });

  test.each([
    ["partner", "Earnings"],
    ["advertiser", "Cost"],
  ] as const)("on a phone %s reads the money of a row first: %s (#39)", async (role, money) => {
    const page = await open(role, "/reports?group_by=offer", PHONE);
    const titles = await page.locator(".data-table thead th").allTextContents();
    expect(titles[1]?.trim()).toBe(money);
    await page.context().close();
  });

  test("a partner finds the address that its tracker takes (#39)", async () => {
    const page = await open("partner", "/postbacks");
    await press(page, "New postback");
    await page.getByLabel("Your tracker").selectOption("Keitaro");
    expect(await copied(page, "Copy the address")).toMatch(/\/postback\?subid=\{sub1\}&payout=/);
    await page.context().close();
  });
});

import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, SCREENS, settled } from "../../../browser/console/console-browser.ts";

const program = findChromium();
/** Words on buttons that write. A view of one's own is not one of them. */
const WRITES = /^(New|Create|Edit|Approve|Reject|Block|Invite|Delete|Revoke|Rotate|Retry)\b/;

describe.skipIf(program === undefined)("the frame around the screens", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const search = (page: Page) => page.getByRole("combobox", { name: "Search" });
  const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

  test("an analyst finds no button that writes, and a write by hand is refused (journey 7)", async () => {
    const page = await browser.page("analyst");
    for (const screen of [...SCREENS.analyst, "/inbox", "/advertisers", "/workspace/people"]) {
      for (const query of ["", "?new=1", "?open=1"]) {
        await page.goto(browser.base("analyst") + screen + query);
        await settled(page);
        const names = await page.getByRole("button").allTextContents();
        const writing = names.filter((name) => WRITES.test(name));
        expect(writing, screen + query).toEqual([]);
      }
    }
    const code = await page.evaluate(
      `fetch("/api/v1/session", { headers: { "x-tracker-membership": "0" } }).then((answer) => answer.json()).then(async ({ data }) =>
        (await fetch("/api/v1/offers/1", {
          method: "PATCH",
          headers: { "content-type": "application/json", "x-tracker-membership": String(data.memberships[0].id) },
          body: JSON.stringify({ name: "mine" }),
        })).json()).then(({ error }) => error.code)`,
    );
    expect(code).toBe("read_only_key");
  });

  test.each([320, 390, 900, 1440])(
    "the header is one line at %i px, however long the names are",
    async (width) => {
      const page = await browser.page("advertiser", { width });
      await page.goto(`${browser.base("advertiser")}/`);
      await settled(page);
      const header = page.locator("header.top");
      await page.evaluate(
        `for (const name of document.querySelectorAll(".top .workspace, .top .own-link span"))
          name.textContent = "Bartholomew and Featherstonehaugh Performance Holding ".repeat(3)`,
      );
      const box = await header.boundingBox();
      expect(box?.height).toBe(56);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      const out = page.getByRole("button", { name: "Sign out" });
      const end = await out.boundingBox();
      expect((end?.x ?? width) + (end?.width ?? width)).toBeLessThanOrEqual(width);
    },
  );

  test.each([
    ["at 320 px", 320],
    ["at 200 % zoom of 1440 px", 720],
  ])("journeys 2 to 5 work by keyboard alone in dark mode, %s (journey 24)", async (_, width) => {
    const page = await browser.page("admin", { width, theme: "dark" });
    await page.goto(`${browser.base("admin")}/`);
    await settled(page);
    await tabTo(page, /^Range/);
    // Only one letter: a slow browser would take further letters for the beginning of another name.
    await page.keyboard.press("y");
    await page.waitForURL(/preset=yesterday/);
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("reports");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/reports$/);
    await settled(page);
    await tabTo(page, /^Group by/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Country/);
    await page.keyboard.press("Space");
    await page.waitForURL(/group_by=offer%2Ccountry/);
    await page.keyboard.press("Escape");
    await settled(page);
    await tabTo(page, /^Conversions$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=-conversions/);
    await settled(page);
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/filters=offer/);
    await settled(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await axeFaults(page)).toEqual([]);
  });

  test("on a small screen axe finds nothing in the navigation, the palette and the help", async () => {
    for (const theme of ["light", "dark"] as const) {
      const page = await browser.page("admin", { width: 320, theme });
      await page.goto(`${browser.base("admin")}/reports`);
      await settled(page);
      const check = async (): Promise<void> => {
        await settled(page);
        expect(await axeFaults(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
      };
      await page.getByRole("button", { name: "Open the navigation" }).click();
      await page.locator(".sheet").waitFor();
      await check();
      await page.locator(".sheet").getByRole("link", { name: "Offers" }).click();
      await page.waitForURL(/\/offers$/);
      await page.locator(".sheet").waitFor({ state: "detached" });
      await settled(page);
      await page.keyboard.press("Control+k");
      await search(page).fill("off");
      await page.getByRole("option").first().waitFor();
      await check();
      await page.keyboard.press("Escape");
      await page.locator(".palette").waitFor({ state: "detached" });
      await page.keyboard.press("?");
      await heading(page, "Keyboard").waitFor();
      await check();
      await page.context().close();
    }
  });

  test("a report whose store is away says so and comes back by itself", async () => {
    const page = await browser.page("admin");
    let isAway = true;
    await page.route("**/api/v1/reports?**", async (route) => {
      if (!isAway) return await route.continue();
      const error = { code: "unavailable", message: "Reports are not available at the moment." };
      return await route.fulfill({ status: 503, json: { error } });
    });
    await page.goto(`${browser.base("admin")}/reports`);
    await page.locator(".banner").getByText("Reports are not available").waitFor();
    isAway = false;
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.locator("tbody tr").first().waitFor();
    await expect.poll(async () => await page.locator(".notice.bad").count()).toBe(0);
    browser.forgive(/status of 503/);
  });

  test("too many requests are counted down and asked once again", async () => {
    const page = await browser.page("admin");
    let asked = 0;
    await page.route(/\/api\/v1\/offers(?:\?|$)/, async (route) => {
      asked += 1;
      if (asked > 1) return await route.continue();
      const error = { code: "rate_limited", message: "Too many requests." };
      return await route.fulfill({ status: 429, headers: { "retry-after": "2" }, json: { error } });
    });
    // It is shown for two seconds, maybe before the page has loaded as a whole.
    const counted = page.getByText("It can be tried again in").waitFor();
    await Promise.all([counted, page.goto(`${browser.base("admin")}/offers`)]);
    await page.locator("tbody tr").first().waitFor();
    expect(asked).toBe(2);
  });

  test("a page of an old release loads itself once, and then says so", async () => {
    const page = await browser.page("admin");
    let loads = 0;
    page.on("request", (request) => {
      if (request.isNavigationRequest()) loads += 1;
    });
    await page.route("**/assets/clicks-*.js", async (route) => route.fulfill({ status: 404 }));
    await page.goto(`${browser.base("admin")}/`);
    await settled(page);
    await page.getByRole("link", { name: "Clicks" }).click();
    await heading(page, "The console was updated").waitFor();
    expect(loads).toBe(2);
    browser.forgive(/dynamically imported module/);
  });
});

/** Moves the focus with Tab until it is on what has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const nameOfFocus = `(() => {
    const element = document.activeElement;
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
    return (label ?? "").trim();
  })()`;
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press("Tab");
    const reached = String(await page.evaluate(nameOfFocus));
    if (name.test(reached)) return;
  }
  throw new Error(`Tab never reaches ${String(name)}`);
}

import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, SCREENS, settled } from "../../../browser/console/console-browser.ts";
import { ownOffer, sendTraffic } from "./console-traffic.ts";
import { ListPeople } from "./list-people.ts";
import { press } from "./people-pages.ts";

const program = findChromium();
const HEIGHTS = `[...new Set([...document.querySelectorAll("main .data-table tbody tr:not(.totals)")]
  .map((row) => Math.round(row.getBoundingClientRect().height)))]`;
const CUT_TIMES = `[...document.querySelectorAll("main td.instant")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).length`;
const OFFERS_AT_FIRST = [
  "Offer",
  "Code",
  "Status",
  "Advertiser",
  "Payout",
  "Revenue",
  "Conversions, 30 days",
  "Revenue, 30 days",
  "Profit, 30 days",
  "Clicks, 14 days",
];

describe.skipIf(program === undefined)("lists for people who work in them all day", () => {
  let browser: ConsoleBrowser;
  let people: ListPeople;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    people = new ListPeople(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const go = async (page: Page, path: string): Promise<void> => {
    await page.goto(browser.base("admin") + path);
    await settled(page);
  };
  const titles = async (page: Page): Promise<readonly string[]> =>
    (await page.locator("main thead th").allTextContents()).map((title) => title.trim());
  const menu = async (page: Page): Promise<Locator> => {
    await press(page, "Columns");
    return page.locator(".popup");
  };
  const heights = async (page: Page): Promise<unknown> => await page.evaluate(HEIGHTS);
  // A number beside the word says how many there are.
  const views = async (page: Page): Promise<void> =>
    await page.getByRole("button", { name: /^Views/ }).click();
  const box = (popup: Locator, name: string): Locator =>
    popup.getByRole("checkbox", { name, exact: true });

  test("columns that were hidden, shown and moved are there after a reload and in another browser", async () => {
    const { page, email } = await people.join();
    await go(page, "/offers");
    expect(await titles(page)).toEqual(OFFERS_AT_FIRST);
    const popup = await menu(page);
    expect(await box(popup, "Offer").isDisabled()).toBe(true);
    await box(popup, "Code").uncheck();
    await box(popup, "Payout, 30 days").check();
    await popup.getByRole("button", { name: "Move Advertiser up" }).click();
    const wanted = OFFERS_AT_FIRST.filter((title) => title !== "Code");
    wanted.splice(1, 2, "Advertiser", "Status");
    wanted.splice(6, 0, "Payout, 30 days");
    await expect.poll(() => titles(page)).toEqual(wanted);
    await settled(page);
    await page.reload();
    await settled(page);
    expect(await titles(page)).toEqual(wanted);
    const other = await people.signIn(email);
    await go(other, "/offers");
    expect(await titles(other)).toEqual(wanted);
    // Another list of the person has its own columns, and the admin's are as they were built.
    await go(other, "/partners");
    expect(await titles(other)).toContain("Code");
    await go(other, "/offers");
    await menu(other);
    await press(other, "Reset columns");
    await expect.poll(() => titles(other)).toEqual(OFFERS_AT_FIRST);
    await settled(other);
    await other.reload();
    await settled(other);
    expect(await titles(other)).toEqual(OFFERS_AT_FIRST);
    await page.context().close();
    await other.context().close();
  });

  test("a column is moved with the keyboard alone, and the focus stays on its button", async () => {
    const { page } = await people.join();
    await go(page, "/advertisers");
    await page.getByRole("button", { name: "Columns", exact: true }).focus();
    await page.keyboard.press("Enter");
    const up = page.getByRole("button", { name: "Move Revenue, 30 days up" });
    await up.focus();
    const before = await titles(page);
    const at = before.indexOf("Revenue, 30 days");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    // The hidden columns between are passed, too.
    await expect.poll(async () => (await titles(page)).indexOf("Revenue, 30 days")).toBe(at - 1);
    await expect
      .poll(async () => await page.evaluate("document.activeElement.getAttribute('aria-label')"))
      .toBe("Move Revenue, 30 days up");
    await page.getByText(/^Revenue, 30 days: column \d+ of \d+$/).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".popup").waitFor({ state: "detached" });
    await page.context().close();
  });

  test("two changes in a row are both kept, and a change that is not saved says so and stays", async () => {
    const { page } = await people.join();
    await go(page, "/clicks");
    await page.route("**/api/v1/person", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await go(page, "/partners");
    const popup = await menu(page);
    await box(popup, "Code").uncheck();
    await box(popup, "E-mail").uncheck();
    await settled(page);
    await page.unroute("**/api/v1/person");
    await page.reload();
    await settled(page);
    expect(await titles(page)).not.toContain("Code");
    expect(await titles(page)).not.toContain("E-mail");
    await page.route("**/api/v1/person", async (route) => {
      const error = { code: "unavailable", message: "Not now." };
      await route.fulfill({ status: 503, json: { error } });
    });
    await box(await menu(page), "Tags").uncheck();
    await page.locator(".popup .notice.bad").waitFor();
    expect(await titles(page)).not.toContain("Tags");
    browser.forgive(/status of 503/);
    await page.context().close();
  });

  test("columns of another release are passed over, and the API keeps no more than a list has", async () => {
    const { page } = await people.join();
    await go(page, "/offers");
    const columns = ["gone", "name", "revenue", "-code", "status"];
    expect(await people.keep(page, [{ list: "offers", columns }])).toBe(200);
    await page.reload();
    await settled(page);
    const shown = await titles(page);
    // The advertiser's column was built behind the state's.
    expect(shown.slice(0, 2)).toEqual(["Offer", "Revenue"]);
    expect(shown.slice(shown.indexOf("Status")).slice(0, 2)).toEqual(["Status", "Advertiser"]);
    expect(shown).not.toContain("Code");
    const long = Array.from({ length: 41 }, (_, at) => `column${at}`);
    const lists = long.map((list) => ({ list, columns: ["name"] }));
    for (const refused of [
      [{ list: "offers", columns: long }],
      lists,
      [{ list: "offers", columns: ["<b>"] }],
      [{ list: "offers", columns: ["a".repeat(40)] }],
    ])
      expect(await people.keep(page, refused)).toBe(400);
    await page.context().close();
  });

  test("a saved view brings its columns to a colleague, whose own stay as they are", async () => {
    const { page } = await people.join();
    await go(page, "/offers?status=active");
    await box(await menu(page), "Code").uncheck();
    await page.keyboard.press("Escape");
    const name = `Without codes ${Date.now()}`;
    await views(page);
    await page.getByLabel("Name of what is shown now").fill(name);
    await press(page, "Save the view");
    await page.getByRole("button", { name: `More about ${name}` }).click();
    await page.getByRole("menuitem", { name: "Share", exact: true }).click();
    await page.locator(".popup").getByText("Shared", { exact: true }).waitFor();
    const { page: other } = await people.join();
    await go(other, "/offers");
    await views(other);
    await other.locator(".popup").getByRole("link", { name }).click();
    await other.waitForURL(/columns=name/);
    const wanted = OFFERS_AT_FIRST.filter((title) => title !== "Code");
    await expect.poll(() => titles(other)).toEqual(wanted);
    await box(await menu(other), "Status").uncheck();
    await expect.poll(() => titles(other)).not.toContain("Status");
    expect(new URL(other.url()).searchParams.get("columns")).not.toContain("status");
    await go(other, "/offers");
    expect(await titles(other)).toEqual(OFFERS_AT_FIRST);
    await page.context().close();
    await other.context().close();
  });

  test("dense rows are 32 pixels high in every table, before the first paint and in another browser", async () => {
    const { page, email } = await people.join();
    await go(page, "/offers");
    await (await menu(page)).getByLabel("Dense rows in all tables").check();
    await settled(page);
    await expect.poll(() => heights(page)).toEqual([32]);
    await go(page, "/partners");
    expect(await heights(page)).toEqual([32]);
    await go(page, "/reports?group_by=offer&preset=last30");
    expect(await heights(page)).toEqual([32]);
    await page.reload({ waitUntil: "commit" });
    await page.waitForFunction("document.documentElement.dataset.density === 'dense'");
    const other = await people.signIn(email);
    await go(other, "/offers");
    await expect.poll(() => heights(other)).toEqual([32]);
    await (await menu(other)).getByLabel("Dense rows in all tables").uncheck();
    await expect.poll(() => heights(other)).not.toContain(32);
    await settled(other);
    await page.context().close();
    await other.context().close();
  });

  test("a phone shows the name, the state and the money of a row without scrolling", async () => {
    const page = await browser.page("admin", { width: 390 });
    for (const path of ["/offers", "/advertisers"]) {
      await go(page, path);
      const shown = await titles(page);
      expect(shown.slice(1, 3)).toEqual(["Status", "Revenue, 30 days"]);
      const money = await page.locator("main tbody tr").first().locator("td").nth(2).boundingBox();
      expect((money?.x ?? 390) + (money?.width ?? 0)).toBeLessThanOrEqual(390);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    }
    await go(page, "/workspace/audit");
    const times = page.locator("main tbody td.instant");
    expect(await times.first().textContent()).toMatch(/\d:\d\d/);
    expect(await page.evaluate(CUT_TIMES)).toBe(0);
    await page.context().close();
  });

  test("no screen says its title twice, and every state begins with a capital letter", async () => {
    const page = await browser.page("admin");
    for (const path of SCREENS.admin.filter((one) => !one.includes("open="))) {
      await go(page, path);
      const said = await page.locator("main h1, main h2").allTextContents();
      expect([path, said.length]).toEqual([path, new Set(said).size]);
      const states = await page.locator("main .data-table .badge").allTextContents();
      expect([path, states.filter((state) => /^\p{Ll}/u.test(state))]).toEqual([path, []]);
      const texts = await page.locator("main p, main strong").allTextContents();
      const sentences = texts.filter((text) => text.length > 20);
      expect([path, sentences.length]).toEqual([path, new Set(sentences).size]);
    }
    await page.context().close();
  });

  describe("figures of the last 30 days", () => {
    const OFFERS = { EUR: "2.25", USD: "3.5" } as const;
    const ids: Record<string, number> = {};
    beforeAll(async () => {
      for (const [currency, revenue] of Object.entries(OFFERS)) {
        const { id, code } = await ownOffer(browser.demo, {
          name: `Lists in ${currency}`,
          currency,
          revenue,
        });
        ids[currency] = id;
        await sendTraffic(browser.demo, `lists-${id}`, 2, code);
      }
    });
    // The lists below are filtered, because other files make records in the same workspace meanwhile.
    const cell = async (page: Page, name: string, title: string): Promise<Locator> => {
      const at = (await titles(page)).indexOf(title);
      expect([title, at >= 0]).toEqual([title, true]);
      return page.locator("main tbody tr").filter({ hasText: name }).first().locator("td").nth(at);
    };

    test("a row has its money in its own currency, from one report for the page", async () => {
      const page = await browser.page("admin");
      const asked: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("group_by=offer%2Ccurrency")) asked.push(request.url());
      });
      await go(page, "/offers?q=Lists%20in");
      expect(asked).toHaveLength(1);
      // Each country sent two clicks, and one of them had a sale.
      const figures = async (name: string): Promise<readonly (string | null)[]> => [
        await (await cell(page, name, "Conversions, 30 days")).textContent(),
        await (await cell(page, name, "Revenue, 30 days")).textContent(),
        await (await cell(page, name, "Profit, 30 days")).textContent(),
      ];
      expect(await figures("Lists in EUR")).toEqual(["3", "€6.75", "€3.75"]);
      expect(await figures("Lists in USD")).toEqual(["3", "$10.50", "$7.50"]);
      await (await cell(page, "Lists in EUR", "Revenue, 30 days")).getByRole("link").click();
      await page.waitForURL(/\/reports\?/);
      const { searchParams } = new URL(page.url());
      expect(searchParams.get("filters")).toBe(`offer:in:${String(ids["EUR"])}`);
      expect(searchParams.get("currency")).toBe("EUR");
      await settled(page);
      await page.locator("tr.totals").getByText("€6.75").first().waitFor();
      await page.context().close();
    });

    test("a partner who earns in two currencies has both, never their sum", async () => {
      const page = await browser.page("admin");
      await go(page, "/partners?q=Anna");
      const payout = await cell(page, "Anna's blog", "Payout, 30 days");
      expect(await payout.textContent()).toMatch(/^(?=.*\$[\d.,]+)(?=.*€[\d.,]+).* \+ /);
      await page.context().close();
    });

    test("without reports a figure says why, nothing is red, and it comes by itself", async () => {
      const page = await browser.page("admin");
      await page.clock.install();
      let isAway = true;
      await page.route("**/api/v1/reports?**", async (route) => {
        if (!isAway) return await route.continue();
        const error = { code: "unavailable", message: "Reports are not available at the moment." };
        return await route.fulfill({ status: 503, json: { error } });
      });
      await page.goto(`${browser.base("admin")}/offers?q=Lists%20in`);
      await page.locator("main tbody tr").first().waitFor();
      const why = page.getByTitle("Reports are unavailable; we're retrying").first();
      await expect
        .poll(async () => {
          await page.clock.fastForward(5_000);
          return await why.count();
        })
        .toBe(1);
      expect(await why.textContent()).toContain("–");
      expect(await page.locator("main .notice.bad").count()).toBe(0);
      isAway = false;
      await expect
        .poll(async () => {
          await page.clock.fastForward(30_000);
          return await (await cell(page, "Lists in EUR", "Revenue, 30 days")).textContent();
        })
        .toBe("€6.75");
      browser.forgive(/status of 503/);
      await page.context().close();
    });

    test("the ranking is a report over all records, the most money first", async () => {
      const page = await browser.page("analyst");
      await go(page, "/partners");
      await page.getByRole("link", { name: "Ranking" }).click();
      await page.waitForURL(/group_by=affiliate&sort=-payout/);
      await settled(page);
      const sorted = page.locator("thead th[aria-sort=descending]");
      expect(await sorted.textContent()).toContain("Payout");
      await page.context().close();
    });
  });
});

import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { ownOffer, sendTraffic } from "./console-traffic.ts";

const program = findChromium();
const SUB = "drill-down, with | signs: 100%";
const RANGE = "preset=today";
const METRICS = "clicks,unique_clicks,bot_clicks,conversions,pending_conversions";

describe.skipIf(program === undefined)("a figure opens the rows that it counts", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    await sendTraffic(browser.demo, SUB, 6);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  /** How many rows a list has, after all of it is shown. */
  const rowsOf = async (page: Page): Promise<number> => {
    await page.locator("tbody tr").first().waitFor();
    await settled(page);
    const more = page.getByRole("button", { name: "Show more" });
    while (await more.isVisible()) {
      const before = await listed(page);
      await more.click();
      await expect.poll(async () => await listed(page)).toBeGreaterThan(before);
      await settled(page);
    }
    return await listed(page);
  };

  /** Opens every linked figure of a report, and compares it with the number of rows that are listed. Returns how many there were. */
  const countRows = async (page: Page, url: string): Promise<number> => {
    await page.goto(url);
    await page.locator(".totals").waitFor();
    await settled(page);
    const links = page.locator(".data-table .cell-link");
    const found: { text: string; href: string }[] = [];
    for (const link of await links.all()) {
      const [text, href] = [await link.textContent(), await link.getAttribute("href")];
      found.push({ text: text ?? "", href: href ?? "" });
    }
    for (const { text, href } of found) {
      await page.goto(new URL(href, browser.origin).href);
      expect([href, await rowsOf(page)]).toEqual([href, Number(text.replaceAll(",", ""))]);
    }
    return found.length;
  };

  const cases: readonly (readonly [Role, string])[] = [
    ["admin", "country"],
    ["admin", "country,device_type,sub1"],
    ["admin", "weekday,hour_of_day"],
    ["admin", "date"],
    ["admin", "is_unique"],
    ["admin", "event,status"],
    ["analyst", "offer,affiliate"],
    ["analyst", "conversion_delay"],
    ["partner", "country,sub1"],
  ];

  test.each(cases)(
    "as %s by %s: each figure is the number of rows behind it",
    async (role, groupBy) => {
      const page = await browser.page(role);
      const filter = `sub1:in:${encodeURIComponent(SUB)}`;
      const metrics = role === "partner" ? "clicks,conversions" : METRICS;
      const params = new URLSearchParams({
        group_by: groupBy,
        metrics,
        filters: filter,
        chart: "none",
      });
      const url = `${browser.base(role)}/reports?${RANGE}&${params.toString()}`;
      expect(await countRows(page, url)).toBeGreaterThan(1);
      await page.context().close();
    },
  );

  test("as an advertiser, conversions open and clicks say why they do not", async () => {
    // Other files report sales of the same advertiser at the same time: the offer is this test's own.
    const offer = await ownOffer(browser.demo);
    await sendTraffic(browser.demo, `${SUB}, own`, 2, offer.code);
    const page = await browser.page("advertiser");
    const url = `${browser.base("advertiser")}/reports?${RANGE}&group_by=offer&metrics=clicks,conversions&filters=offer:in:${offer.id}&chart=none`;
    expect(await countRows(page, url)).toBeGreaterThan(0);
    await page.goto(url);
    await page.locator(".totals").waitFor();
    const clicks = page.locator(".totals [title='No list has rows for this figure']");
    await expect.poll(async () => await clicks.count()).toBe(1);
  });

  test("a figure without a list is no link, and says why", async () => {
    const page = await browser.page("admin");
    const day = (ago: number): string =>
      new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    await page.goto(
      `${browser.base("admin")}/reports?from=${day(60)}&to=${day(0)}&group_by=country&metrics=impressions,clicks&chart=none`,
    );
    await page.locator(".totals").waitFor();
    await settled(page);
    expect(await page.locator(".data-table .cell-link").count()).toBe(0);
    const cells = await page.locator(".totals span[title]").all();
    expect(await Promise.all(cells.map((cell) => cell.getAttribute("title")))).toEqual([
      "No list has rows for this figure",
      "Rows are listed for at most 31 days. Choose fewer.",
    ]);
  });

  test("the funnel of the dashboard opens what its steps count", async () => {
    const page = await browser.page("partner");
    // Other files make clicks of the same partner at the same time: between the figure and the list there may be more.
    await expect
      .poll(async () => {
        await page.goto(`${browser.base("partner")}/?${RANGE}`);
        await page.locator(".funnel").waitFor();
        await settled(page);
        const step = page.locator(".funnel .cell-link").first();
        const figure = Number((await step.textContent())?.replaceAll(",", ""));
        await step.click();
        await page.getByRole("heading", { name: "Clicks", level: 1 }).waitFor();
        return (await rowsOf(page)) - figure;
      })
      .toBe(0);
  });

  test("an hour of the heat map, a country of the map, and a delay open what they show", async () => {
    const page = await browser.page("admin");
    const filter = `sub1:in:${encodeURIComponent(SUB)}`;
    const at = (chart: string): string =>
      `${browser.base("admin")}/reports?${new URLSearchParams({ preset: "today", group_by: "country", metrics: "clicks", filters: filter, chart }).toString()}`;
    await page.goto(at("map"));
    await page.locator('[data-country="US"]').click();
    await page.waitForURL(/country%3Ain%3AUS/);
    await settled(page);
    const [us] = await page.locator("tbody tr .cell-link").allTextContents();
    await expect.poll(async () => await page.locator(".totals .cell-link").textContent()).toBe(us);
    await page.goto(at("week"));
    await page.getByRole("img", { name: /by weekday and hour/ }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL(/weekday%3Ain%3A7%2Chour_of_day%3Ain%3A23/);
    await page.goto(at("delay"));
    const plot = page.getByRole("img", { name: /day of the click and delay/ });
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    const [count = ""] = /\d+/.exec((await page.locator(".reading div").textContent()) ?? "") ?? [];
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Conversions", level: 1 }).waitFor();
    expect(await rowsOf(page)).toBe(Number(count));
  });
});

/** How many rows a list has. The page has only the rows in view of a long list. */
async function listed(page: Page): Promise<number> {
  const whole = await page.locator(".data-table").first().getAttribute("aria-rowcount");
  return whole === null ? await page.locator("tbody tr").count() : Number(whole) - 1;
}

import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { ownOffer, sendTraffic } from "./console-traffic.ts";
import { press, RecordWorld } from "./record-world.ts";

const program = findChromium();
/** More than a page of a list has. */
const MANY = 55;

describe.skipIf(program === undefined)("lists that are sorted by a click on a header", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    const numbers = Array.from({ length: MANY }, (_, at) => String(at).padStart(2, "0"));
    // Their creation is not the order of their names.
    for (const at of numbers.toReversed())
      await world.make("/affiliates", { name: `Sorted ${at}`, tags: ["sorted"] });
    for (const name of ["sorted b", "Sorted A", "sorted C"]) {
      await world.make("/advertisers", { name });
      await world.makeOffer({ name });
    }
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const header = (page: Page, title: string): Locator =>
    page.locator("main thead th").filter({ hasText: new RegExp(`^${title}`) });
  const sort = async (page: Page, title: string, to: string): Promise<void> => {
    await header(page, title).getByRole("button").click();
    await expect.poll(() => header(page, title).getAttribute("aria-sort")).toBe(to);
    await settled(page);
  };
  const firstCells = async (page: Page): Promise<readonly string[]> =>
    await page.locator("main tbody td .cell-button").allTextContents();

  test("the service sorts the whole list, and further pages go on in its order", async () => {
    const page = await world.open("/partners?tag=sorted");
    expect((await firstCells(page))[0]).toBe("Sorted 00");
    await sort(page, "Partner", "ascending");
    await sort(page, "Partner", "descending");
    expect(new URL(page.url()).searchParams.get("sort")).toBe("-name");
    expect((await firstCells(page)).slice(0, 2)).toEqual(["Sorted 54", "Sorted 53"]);
    await press(page, "Show more");
    await expect.poll(async () => (await firstCells(page)).length).toBe(MANY);
    const names = await firstCells(page);
    expect(names).toEqual(names.toSorted().toReversed());
    // A reload and the way back keep the order.
    await page.reload();
    await settled(page);
    expect((await firstCells(page))[0]).toBe("Sorted 54");
    expect(await header(page, "Partner").getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("button", { name: "Sorted 54", exact: true }).click();
    await page.waitForURL(/partners\/\d+/);
    await settled(page);
    await page.locator(".crumbs").getByRole("link").click();
    await page.waitForURL(/sort=-name/);
    await page.context().close();
  });

  test.each([
    ["/offers?q=sorted", "Offer"],
    ["/advertisers?q=sorted", "Advertiser"],
  ])("%s is sorted without regard to capitals, with the keyboard, too", async (path, title) => {
    const page = await world.open(path);
    await header(page, title).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => header(page, title).getAttribute("aria-sort")).toBe("ascending");
    await settled(page);
    expect((await firstCells(page)).slice(0, 3)).toEqual(["Sorted A", "sorted b", "sorted C"]);
    await sort(page, title, "descending");
    expect((await firstCells(page)).slice(-3)).toEqual(["sorted C", "sorted b", "Sorted A"]);
    await page.context().close();
  });

  test("a column that the service cannot sort by has no button, and such an address is passed over", async () => {
    const page = await world.open("/offers?sort=payout");
    expect(await header(page, "Payout").getByRole("button").count()).toBe(0);
    expect(await page.locator("main th[aria-sort]").count()).toBe(0);
    expect(await page.locator("main .notice.bad").count()).toBe(0);
    await page.context().close();
  });

  test("a saved view keeps the order of its list", async () => {
    const page = await world.open("/offers?q=sorted&sort=code");
    const codes = await page.locator("main tbody td code").allTextContents();
    expect(codes).toEqual(codes.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)));
    await page.getByRole("button", { name: /^Views/ }).click();
    const name = `By code ${Date.now()}`;
    await page.getByLabel("Name of what is shown now").fill(name);
    await press(page, "Save the view");
    await page.locator(".popup").getByRole("link", { name }).waitFor();
    await page.goto(`${world.base}/offers`);
    await settled(page);
    await page.getByRole("button", { name: /^Views/ }).click();
    await page.locator(".popup").getByRole("link", { name }).click();
    await page.waitForURL(/sort=code/);
    await expect.poll(() => header(page, "Code").getAttribute("aria-sort")).toBe("ascending");
    await page.context().close();
  });

  test("conversions begin with the newest; the oldest come first after one click, also behind a figure", async () => {
    const { id, code } = await ownOffer(browser.demo, { name: "Sorted by time", revenue: "2" });
    await sendTraffic(browser.demo, `sorting-${id}`, 2, code);
    const list = `/conversions?preset=today`;
    for (const path of [`${list}&offer_id=${id}`, `${list}&filters=offer:in:${id}`]) {
      const page = await world.open(path);
      expect(await header(page, "Time").getAttribute("aria-sort")).toBe("descending");
      const rows = async (): Promise<readonly string[]> =>
        await page.locator("main tbody tr").allTextContents();
      await expect.poll(async () => (await rows()).length).toBe(3);
      const asked = page.waitForRequest(/conversions\?.*sort=conv_ts/);
      await sort(page, "Time", "ascending");
      await asked;
      expect(await rows()).toHaveLength(3);
      await sort(page, "Time", "descending");
      expect(new URL(page.url()).searchParams.get("sort")).toBe(null);
      await page.context().close();
    }
  });
});

import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { ownOffer, sendTraffic } from "./console-traffic.ts";
import { press, RecordWorld } from "./record-world.ts";

const program = findChromium();

describe.skipIf(program === undefined)("the columns and the values of a report", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  let offer = 0;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    const { id, code } = await ownOffer(browser.demo, { name: "Counted values", revenue: "2" });
    offer = id;
    await sendTraffic(browser.demo, `values-${id}`, 2, code);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const titles = async (page: Page): Promise<readonly string[]> =>
    (await page.locator("main .data-table thead th").allTextContents())
      .map((title) => title.trim())
      .filter((title) => !title.endsWith("by day"));
  const metrics = (page: Page): string | null => new URL(page.url()).searchParams.get("metrics");

  test("columns are moved and taken away, in the address and after a reload", async () => {
    const page = await world.open("/reports?group_by=offer&metrics=clicks,conversions,revenue");
    expect(await titles(page)).toEqual(["Offer", "Clicks", "Conversions", "Revenue"]);
    await press(page, "Columns");
    const popup = page.locator(".popup");
    expect(await popup.getByRole("checkbox", { name: "Offer", exact: true }).isDisabled()).toBe(
      true,
    );
    await popup.getByRole("button", { name: "Move Revenue up" }).click();
    await popup.getByRole("button", { name: "Move Revenue up" }).click();
    await expect.poll(() => titles(page)).toEqual(["Offer", "Revenue", "Clicks", "Conversions"]);
    expect(metrics(page)).toBe("revenue,clicks,conversions");
    // The report was sorted by what is taken away.
    await popup.getByRole("checkbox", { name: "Clicks", exact: true }).click();
    await expect.poll(() => titles(page)).toEqual(["Offer", "Revenue", "Conversions"]);
    expect(new URL(page.url()).searchParams.get("sort")).toBe("-revenue");
    await page.reload();
    await settled(page);
    expect(await titles(page)).toEqual(["Offer", "Revenue", "Conversions"]);
    await press(page, "Columns");
    await press(page, "Reset columns");
    await expect.poll(() => metrics(page)).toBe(null);
    await expect.poll(async () => (await titles(page)).length).toBeGreaterThan(3);
    await page.context().close();
  });

  test("the values of a filter are counted as the report counts: in its range and with its other filters", async () => {
    const of = `group_by=offer&filters=offer:in:${offer}`;
    const page = await world.open(`/reports?preset=today&${of}`);
    const values = page.locator(".popup .pick-list label");
    const open = async (): Promise<void> => {
      await press(page, "Filter");
      await page.getByLabel("Dimension", { exact: true }).selectOption("sub1");
      await page.getByText("Clicks in this report").waitFor();
    };
    await open();
    // Other files have sent clicks to other offers, with other values.
    const own = [expect.stringMatching(new RegExp(`^values-${offer}\\s*6$`))];
    await expect.poll(async () => await values.allTextContents()).toEqual(own);
    await values.first().getByRole("checkbox").check();
    await press(page, "Add");
    await page.waitForURL(/sub1(?::|%3A)in(?::|%3A)values-/);
    await settled(page);
    // A filter of the same dimension would hide what else may be chosen.
    await open();
    await expect.poll(async () => await values.allTextContents()).toEqual(own);
    await page.goto(`${world.base}/reports?preset=yesterday&${of}`);
    await settled(page);
    await open();
    await page.getByText("Nothing found.").waitFor();
    await page.context().close();
  });
});

import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { click } from "./console-traffic.ts";
import { RecordWorld } from "./record-world.ts";

const program = findChromium();

describe.skipIf(program === undefined)("what screens show of the API's values", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test("five figures of a record share one row", async () => {
    const page = await world.open("/partners/1");
    const tiles = await page.locator(".tiles .tile").all();
    const tops = await Promise.all(tiles.map(async (tile) => (await tile.boundingBox())?.y));
    expect(tops).toHaveLength(5);
    expect(new Set(tops).size).toBe(1);
    await page.context().close();
  });

  test("results of incoming postbacks are chosen and read in words, under the API's names", async () => {
    const id = "0".repeat(32);
    const { tracking_url: url, postback_token: token } = browser.demo;
    await fetch(`${url}/pb?token=${token}&click_id=${id}`);
    const page = await world.open("/integrations/inbound");
    const result = page.getByRole("combobox", { name: "Result", exact: true });
    await result.selectOption({ label: "Unknown click" });
    await expect.poll(() => new URL(page.url()).searchParams.get("result")).toBe("unknown_click");
    await page.getByRole("cell", { name: "Unknown click", exact: true }).first().waitFor();
    expect(await page.getByRole("cell", { name: "unknown_click" }).count()).toBe(0);
    await page.locator("tbody .cell-button").first().click();
    const drawer = page.getByRole("dialog", { name: "Incoming postback" });
    await drawer.getByText("HTTP status", { exact: true }).waitFor();
    // What the sender called its parameters stays as it is.
    await drawer.getByText("click_id", { exact: true }).waitFor();
    expect(await drawer.getByText("http status", { exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test("lists say the way of a click, a role and a choice in words", async () => {
    await click(browser.demo, { sub1: "in-words", address: "8.8.8.8" });
    const clicks = await world.open("/clicks?live=1&sub1=in-words");
    await clicks.getByRole("cell", { name: "Link of a partner", exact: true }).first().waitFor();
    await clicks.getByRole("cell", { name: "United States", exact: true }).first().waitFor();
    await clicks.context().close();
    const keys = await world.open("/workspace/keys");
    await keys.getByRole("cell", { name: "Advertiser", exact: true }).first().waitFor();
    expect(await keys.getByRole("cell", { name: /^[a-z]+$/ }).allTextContents()).not.toContain(
      "advertiser",
    );
    await keys.context().close();
    const smart = await world.open("/rules");
    await smart.getByRole("cell", { name: "By weight", exact: true }).first().waitFor();
    await smart.context().close();
  });

  test("a rate that no invoice has is left out, and an amount has two decimals", async () => {
    const page = await world.open("/advertisers/1/tax");
    await page.getByText("No tax", { exact: true }).waitFor();
    expect(await page.getByText("Rate in percent").count()).toBe(0);
    await page.goto(`${world.base}/partners/1/payment`);
    await page.getByText("Minimum payout").waitFor();
    expect(await page.getByText(/^\d+\.\d{4}$/).count()).toBe(0);
    await page.context().close();
  });
});

import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import { field, press, RecordWorld, tab } from "./record-world.ts";

const program = findChromium();

describe.skipIf(program === undefined)("the money of the console", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const owed = (page: Page) =>
    page.getByRole("row").filter({ hasText: "Anna's blog" }).filter({ hasText: "CHF" });

  test("billing is switched on, a partner is credited by name, and the credit is reversed (N36, N43, N45)", async () => {
    const page = await world.open("/money");
    await page.getByText("Billing is off").waitFor();
    await page.getByRole("link", { name: "Switch it on in the billing settings" }).click();
    await press(page, "Switch billing on");
    await page.locator(".field .fault").first().waitFor();
    await field(page, "First day").fill("2026-01-01");
    await press(page, "Switch billing on");
    await page.getByRole("heading", { name: "Billing is on" }).waitFor();
    await field(page, "Legal name").fill("Network Ltd");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    await page.locator(".crumbs").getByRole("link", { name: "Balances" }).click();

    await press(page, "Add adjustment");
    const drawer = page.locator(".drawer");
    await press(page, "Post the adjustment");
    await drawer.locator(".fault").first().waitFor();
    await choose(drawer, "Partner", { sought: "Anna's blog" });
    await choose(drawer, "Currency", { sought: "CHF" });
    await field(drawer, "Amount").fill("12.50x");
    await field(drawer, "Reason").fill("Best newcomer");
    await press(page, "Post the adjustment");
    await drawer
      .locator(".field")
      .filter({ has: field(page, "Amount") })
      .locator(".fault")
      .waitFor();
    expect(await field(drawer, "Reason").inputValue()).toBe("Best newcomer");
    await field(drawer, "Amount").fill("12.50");
    await drawer.getByText(/CHF.0\.00 now, CHF.12\.50 afterwards/).waitFor();
    await press(page, "Post the adjustment");
    await drawer.waitFor({ state: "detached" });
    await owed(page)
      .getByText(/12\.50/)
      .first()
      .waitFor();

    await owed(page).getByRole("button").first().click();
    await drawer.getByRole("region", { name: "Ledger" }).getByText("Bonus").waitFor();
    await drawer.getByRole("button", { name: "Close" }).click();

    await tab(page, "Adjustments").click();
    await page
      .getByRole("row")
      .filter({ hasText: "Best newcomer" })
      .getByRole("button")
      .first()
      .click();
    await press(page, "Reverse");
    await press(page, "Yes, reverse");
    await drawer.waitFor({ state: "detached" });
    await page.getByText("Reversal: Best newcomer").waitFor();
    await tab(page, "Partners").click();
    await owed(page)
      .getByText(/CHF.0\.00/)
      .first()
      .waitFor();
    await page.context().close();
  });

  test("a partner reads its earnings and its adjustments (N33, N43)", async () => {
    const page = await world.open("/earnings", "partner");
    const ofCurrency = page.getByRole("region", { name: "Earnings in CHF" });
    await ofCurrency.getByText("Approved and not paid").waitFor();
    await ofCurrency.getByText("Next statement after").waitFor();
    await page.getByText("Reversal: Best newcomer").waitFor();
    expect(await page.getByRole("link", { name: "Balances" }).count()).toBe(0);
    await page.context().close();
  });
});

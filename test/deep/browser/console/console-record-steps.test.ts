import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import { field, press, question, RecordWorld, step, tab } from "./record-world.ts";

const program = findChromium();
const Settings = z.looseObject({ data: z.looseObject({}) });
const DESTINATION = "https://shop.example/?c={click_id}";

describe.skipIf(program === undefined)("records made in steps", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const fillBasics = async (page: Page, name: string, code: string): Promise<void> => {
    await field(page, "Name").fill(name);
    await field(page, "Code").fill(code);
    await choose(page, "Advertiser", { sought: "Demo Shop" });
    await field(page, "Destination").fill(DESTINATION);
  };

  test("an offer is made whole: currency, events, caps, targeting, access and tags (D11)", async () => {
    const page = await world.open("/offers");
    await press(page, "New offer");
    await page.waitForURL(`${world.base}/offers/new`);
    await expect.poll(async () => await page.title()).toBe("New offer · Demo");
    await fillBasics(page, "Made in steps", "STEPS");
    await choose(page, "Currency", { sought: "EUR", name: "Euro" });
    await press(page, "Continue");
    await field(page, "Payout value").fill("12.50");
    await press(page, "Add event");
    await field(page.locator(".row-field"), "Code").fill("signup");
    await field(page.locator(".row-field"), "Payout value").fill("2");
    await press(page, "Continue");
    await page.locator("summary", { hasText: /^Conversions$/ }).click();
    await page
      .getByRole("group", { name: "Conversions", exact: true })
      .getByLabel("Day", { exact: true })
      .fill("50");
    for (const country of ["Germany", "Austria"])
      await choose(page, "Countries", { sought: country });
    await press(page, "Continue");
    await field(page, "Visibility").selectOption("private");
    await choose(page, "Partners that may run it at once", { sought: "Anna's blog" });
    await field(page, "Tags").fill("autumn, shop");
    await press(page, "Continue");
    for (const text of ["12.50", "Euro", "Austria", "autumn, shop", "Anna's blog"])
      await page.locator(".steps-form form").getByText(text).first().waitFor();
    await press(page, "Create the offer");
    await page.getByRole("heading", { name: "Made in steps", level: 1 }).waitFor();
    const [made, ...others] = await world.list("/offers?q=STEPS");
    expect(others).toEqual([]);
    expect(made).toMatchObject({
      currency: "EUR",
      payout: "12.5000",
      caps: { conversions: { daily: 50 } },
      targeting: { countries_allow: ["DE", "AT"] },
      visibility: "private",
      tags: ["autumn", "shop"],
      unique_per_click: true,
      events: [{ code: "default" }, { code: "signup", payout: "2.0000" }],
    });
    await tab(page, "Partners").click();
    await page.getByLabel("Take access from Anna's blog").waitFor();
    // Back leads to an empty form, not to one that can be sent twice.
    await page.goBack();
    await page.goBack();
    await page.getByRole("heading", { name: "New offer", level: 1 }).waitFor();
    expect(await field(page, "Tags").inputValue()).toBe("");
    await page.context().close();
  });

  test("a step back keeps what was typed, also by the browser, and leaving asks", async () => {
    const page = await world.open("/offers");
    await press(page, "New offer");
    await fillBasics(page, "Left alone", "LEFTALONE");
    await press(page, "Continue");
    await field(page, "Payout value").fill("9");
    await press(page, "Back");
    expect(await field(page, "Name").inputValue()).toBe("Left alone");
    await press(page, "Continue");
    await page.goBack();
    await page.getByRole("heading", { name: "Basics" }).waitFor();
    expect(await field(page, "Destination").inputValue()).toBe(DESTINATION);
    await step(page, "Money and events");
    expect(await field(page, "Payout value").inputValue()).toBe("9");
    await page.getByRole("link", { name: "Reports" }).click();
    await question(page).waitFor();
    await press(page, "Keep editing");
    expect(await field(page, "Payout value").inputValue()).toBe("9");
    await page.getByRole("link", { name: "Reports" }).click();
    await press(page, "Discard");
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    expect(await world.list("/offers?q=LEFTALONE")).toEqual([]);
    await page.context().close();
  });

  test("a step that misses a value, or that the API refuses, is opened at its field", async () => {
    const page = await world.open("/offers/new");
    await press(page, "Continue");
    await page.getByText("Enter the name").first().waitFor();
    expect(await page.locator(":focus").getAttribute("aria-invalid")).toBe("true");
    await fillBasics(page, "Refused", "DEMOSHOP");
    await step(page, "Review");
    await press(page, "Create the offer");
    await page.getByRole("heading", { name: "Basics" }).waitFor();
    await page
      .locator(".field")
      .filter({ has: field(page, "Code") })
      .locator(".fault")
      .waitFor();
    await expect
      .poll(async () => await page.locator(":focus").getAttribute("aria-invalid"))
      .toBe("true");
    expect(await field(page, "Name").inputValue()).toBe("Refused");
    const notice = await page.locator(".steps-form .notice").innerText();
    expect(notice).not.toMatch(/[a-z]_[a-z]/);
    await page.context().close();
  });

  test("access that cannot be given is named on the page of the offer, and is given without making it twice", async () => {
    const page = await world.open("/offers/new");
    await page.route("**/offers/*/affiliates/*", async (route) => {
      const error = { code: "unavailable", message: "Not now." };
      await route.fulfill({ status: 503, json: { error } });
    });
    await fillBasics(page, "Half made", "HALFMADE");
    await step(page, "Access and tags");
    await field(page, "Visibility").selectOption("private");
    await choose(page, "Partners that may run it at once", { sought: "Anna's blog" });
    await step(page, "Review");
    await press(page, "Create the offer");
    await page.getByRole("heading", { name: "Half made", level: 1 }).waitFor();
    const undone = page.getByRole("region", { name: "Not done yet" });
    await undone.getByText("Not now.").waitFor();
    await undone.getByText("Give access to Anna's blog").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    browser.forgive(/status of 503/);
    await undone.getByRole("button", { name: /^Try again/ }).click();
    await undone.waitFor({ state: "detached" });
    await tab(page, "Partners").click();
    await page.getByLabel("Take access from Anna's blog").waitFor();
    expect(await world.list("/offers?q=HALFMADE")).toHaveLength(1);
    await page.context().close();
  });

  test("two presses make one partner, with its manager, code and payment", async () => {
    const manager = `Manager ${Date.now()}`;
    await world.make("/users", { name: manager, email: `m${Date.now()}@demo.example` });
    const page = await world.open("/partners/new");
    await field(page, "Name").fill("Stepped partner");
    await field(page, "Code").fill("STEPPART");
    await field(page, "Status").selectOption("pending");
    await choose(page, "Manager", { sought: manager });
    await step(page, "Payment");
    await field(page, "Minimum payout").fill("50");
    await choose(page, "Currency", { sought: "EUR", name: "Euro" });
    await step(page, "Review");
    await page.getByRole("button", { name: "Create the partner" }).dblclick();
    await page.getByRole("heading", { name: "Stepped partner", level: 1 }).waitFor();
    await page.locator(".record-head").getByText(manager).waitFor();
    const made = await world.list("/affiliates?q=STEPPART");
    expect(made).toMatchObject([{ status: "pending", min_payout: "50.0000", currency: "EUR" }]);
    await page.context().close();
  });

  test("a new partner is paid by the wallets as the settings name them", async () => {
    const page = await browser.page("admin");
    // Other files read the settings of this workspace, too.
    await page.route("**/billing-settings", async (route) => {
      const answer = await route.fetch();
      const { data } = Settings.parse(await answer.json());
      const wallet_names = { wallet_a: "PayPal", wallet_b: "" };
      await route.fulfill({ json: { data: { ...data, wallet_names } } });
    });
    await page.goto(`${world.base}/partners/new?step=payment`);
    const method = field(page, "Paid by");
    await method.locator("option", { hasText: "PayPal" }).waitFor({ state: "attached" });
    expect(await method.locator("option").allTextContents()).toEqual([
      "Bank transfer",
      "PayPal",
      "Wallet B",
      "Crypto",
      "Another way",
    ]);
    await method.selectOption("PayPal");
    await step(page, "Review");
    await page.locator(".steps-form form").getByText("PayPal", { exact: true }).waitFor();
    await page.context().close();
  });

  test("an advertiser is made with its currency, and new offers take it", async () => {
    const page = await world.open("/advertisers/new");
    await field(page, "Name").fill("Euro shop");
    await choose(page, "Currency", { sought: "EUR", name: "Euro" });
    await step(page, "Review");
    await press(page, "Create the advertiser");
    await page.getByRole("heading", { name: "Euro shop", level: 1 }).waitFor();
    await page.goto(`${world.base}/offers/new`);
    await choose(page, "Advertiser", { sought: "Euro shop" });
    await field(page, "Name").fill("Of the euro shop");
    await field(page, "Destination").fill(DESTINATION);
    await step(page, "Review");
    await press(page, "Create the offer");
    await page.getByRole("heading", { name: "Of the euro shop", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Euro shop" }).click();
    await tab(page, "Offers").click();
    await page.getByRole("button", { name: "Of the euro shop" }).waitFor();
    expect(await world.list("/offers?q=Of%20the%20euro")).toMatchObject([{ currency: "EUR" }]);
    await page.context().close();
  });
});

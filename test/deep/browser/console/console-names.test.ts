import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { choose, optionsOf } from "./choose.ts";

const program = findChromium();
const ANNA = "Anna's blog";

describe.skipIf(program === undefined)("things are chosen and shown by name", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const open = async (role: Role, path: string, options = {}): Promise<Page> => {
    const page = await browser.page(role, options);
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const press = async (page: Page, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();

  test("a person of a partner is invited by the partner's name; other roles show no partner (D5)", async () => {
    const page = await open("admin", "/workspace/people");
    await press(page, "Invite");
    const drawer = page.locator(".drawer");
    const partner = drawer.getByRole("combobox", { name: "Partner", exact: true });
    expect(await partner.count()).toBe(0);
    await drawer.getByLabel("E-mail").fill("named@partner.example");
    await drawer.getByLabel("Role").selectOption("partner");
    expect(await drawer.getByRole("combobox", { name: "Advertiser" }).count()).toBe(0);
    await press(page, "Create invite link");
    await drawer.locator(".fault").first().waitFor();
    await choose(drawer, "Partner", { sought: "anna", name: ANNA });
    expect(await partner.inputValue()).toBe(ANNA);
    await press(page, "Create invite link");
    await drawer.locator("code", { hasText: "/console/join#" }).waitFor();
    await page.context().close();
  });

  test("the picker works with the keyboard alone, and Escape closes the list and not the drawer", async () => {
    const page = await open("admin", "/workspace/people");
    await press(page, "Invite");
    const drawer = page.locator(".drawer");
    await drawer.getByLabel("Role").selectOption("partner");
    const input = drawer.getByRole("combobox", { name: "Partner", exact: true });
    await input.focus();
    await page.keyboard.press("ArrowDown");
    const options = optionsOf(drawer, "Partner");
    await options.nth(1).waitFor();
    const reached = async (): Promise<string | null> =>
      await drawer.locator("[role=option][aria-selected=true] .palette-title").textContent();
    const names = await options.locator(".palette-title").allTextContents();
    expect(await reached()).toBe(names[0]);
    for (const [key, at] of [
      ["ArrowDown", 1],
      ["End", -1],
      ["ArrowDown", 0],
      ["ArrowUp", -1],
      ["Home", 0],
    ] as const) {
      await page.keyboard.press(key);
      expect(await reached()).toBe(names.at(at));
      const active = await input.getAttribute("aria-activedescendant");
      expect(await page.locator(`[id="${active}"] .palette-title`).textContent()).toBe(
        names.at(at),
      );
    }
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await options.first().waitFor({ state: "detached" });
    expect(await drawer.count()).toBe(1);
    await page.keyboard.type("anna");
    await page.keyboard.press("Enter");
    await expect.poll(() => input.inputValue()).toBe(ANNA);
    // What was chosen stays if something else is sought and left.
    await page.keyboard.type("zzzz");
    await drawer.getByText("Nothing found").waitFor();
    await page.keyboard.press("Tab");
    expect(await input.inputValue()).toBe(ANNA);
    // Code and ID find it, too.
    await input.fill("DEMOANNA");
    await options.filter({ hasText: ANNA }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard changes?" }).waitFor();
    await page.context().close();
  });

  test("a list is filtered by a partner's name, and a copied address says the same name", async () => {
    const page = await open("admin", "/conversions");
    await choose(page, "Partner", { sought: "anna", name: ANNA });
    await page.waitForURL(/[?&]affiliate_id=\d+/);
    await settled(page);
    const partners = await page.locator(".data-table tbody td:nth-child(6)").allTextContents();
    expect([...new Set(partners.filter(Boolean))]).toEqual([ANNA]);
    await page.reload();
    const input = page.getByRole("combobox", { name: "Partner", exact: true });
    await expect.poll(() => input.inputValue()).toBe(ANNA);
    await page.screenshot({ path: "/tmp/a/conv.png" });
    await press(page, "Clear partner");
    await page.waitForURL((url) => !url.searchParams.has("affiliate_id"));
    await input.click();
    await page.screenshot({ path: "/tmp/a/conv-open.png" });
    // The last choice comes first.
    await expect.poll(() => optionsOf(page, "Partner").first().textContent()).toContain(ANNA);
    await page.context().close();
  });
});

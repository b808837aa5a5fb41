import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { StatementBooks } from "../../../integration/billing/statement-books.ts";
import { serversOf } from "../../../system/servers-of.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { press } from "./people-pages.ts";

const program = findChromium();
const PICTURES = process.env["STATEMENT_PICTURES"];

describe.skipIf(program === undefined)("statements in the console", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let pool: Pool;
  let conversionId = "";

  beforeAll(async () => {
    system = await startSystem();
    const cookies = await signInRoles(system);
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo, cookies);
    pool = openPool({ url: (await serversOf(system)).postgres, applicationName: "test" });
    const partner = await partnerOfDemo();
    const books = new StatementBooks({ pool }, partner.workspace_id);
    await books.switchOn();
    const { rows } = await pool.query<{ id: string }>({ text: "select gen_random_uuid() as id" });
    conversionId = rows[0]?.id ?? "";
    const sale = { affiliateId: partner.id, currency: "USD", offerId: 1, eventCode: "default" };
    await books.earn({ ...sale, conversionId, amount: "12.3456" }, { ...sale, amount: "8" });
    await books.takeBack(40);
    await books.earn({ ...sale, amount: "3" });
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await pool.end();
    await system[Symbol.asyncDispose]();
  });

  const partnerOfDemo = async () => {
    const { rows } = await pool.query<{ id: number; workspace_id: number; name: string }>({
      text: `select f.id, f.workspace_id, f.name from membership m join affiliate f on f.id = m.affiliate_id
             where m.role = 'partner' order by m.id limit 1`,
    });
    const [partner] = rows;
    assert(partner !== undefined, "the demo has a partner");
    return partner;
  };
  const open = async (path: string, role: Role = "admin", width = 1440): Promise<Page> => {
    const page = await browser.page(role, { width });
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };

  test("a preview comes before closing, and money is confirmed before it is approved (N48, N49)", async () => {
    const page = await open("/money/statements");
    await page.getByText("No statements yet").waitFor();
    await press(page, "Close periods");
    const drawer = page.getByRole("dialog", { name: "Close periods" });
    await drawer.getByText("1 draft with $20.34").waitFor();
    await picture(page, "close");
    expect(await axeFaults(page)).toEqual([]);
    await drawer.getByRole("button", { name: "Make the statements" }).click();
    await drawer.getByText("1 draft with $20.34 made.").waitFor();
    await press(page, "Done");
    await page.getByLabel(/^Select \d+$/).check();
    await picture(page, "list");
    expect(await axeFaults(page)).toEqual([]);
    await press(page, "Approve");
    const question = page.getByRole("dialog", { name: "Approve 1 statement?" });
    await question.getByText(/1 statement, \$20\.34 to be paid/).waitFor();
    await picture(page, "approve");
    await question.getByRole("button", { name: "Approve 1 statement" }).click();
    await question.waitFor({ state: "detached" });
    await page.locator(".badge", { hasText: "Approved" }).first().waitFor();
  });

  test("a line shows its conversions, and the document is saved (N50)", async () => {
    const page = await open("/money/statements");
    await page
      .getByRole("button", { name: (await partnerOfDemo()).name })
      .first()
      .click();
    await page.getByRole("button", { name: "Conversions", exact: true }).click();
    await page.getByText(conversionId).waitFor();
    await picture(page, "line");
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await picture(page, "page");
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "CSV")]);
    expect(download.suggestedFilename()).toMatch(/^S-\d{4}-0001\.csv$/);
  });

  test("a partner sees what is approved and not the draft (N30)", async () => {
    const staff = await open("/money/statements");
    await press(staff, "Close periods");
    const drawer = staff.getByRole("dialog", { name: "Close periods" });
    const { name } = await partnerOfDemo();
    await drawer.getByRole("combobox", { name: "Partner" }).fill(name);
    await staff.getByRole("option").filter({ hasText: name }).first().click();
    await drawer.getByLabel("Until").fill(new Date().toISOString().slice(0, 10));
    await drawer.getByText("1 draft with $3.00").waitFor();
    await drawer.getByRole("button", { name: "Make the statements" }).click();
    await drawer.getByText("1 draft with $3.00 made.").waitFor();
    const page = await open("/statements", "partner");
    const numbers = page.getByRole("button", { name: /^S-\d{4}-\d+$/ });
    await numbers.first().waitFor();
    expect(await numbers.count()).toBe(1);
    expect(await page.locator(".badge", { hasText: "Draft" }).count()).toBe(0);
    await picture(page, "own-list");
    await numbers.first().click();
    await page.getByRole("button", { name: "PDF" }).waitFor();
    await picture(page, "own-page");
    expect(await axeFaults(page)).toEqual([]);
    const narrow = await open("/statements", "partner", 390);
    await picture(narrow, "own-narrow");
    await narrow
      .getByRole("button", { name: /^S-\d{4}-\d+$/ })
      .first()
      .click();
    const amount = await narrow.getByRole("columnheader", { name: "Amount" }).boundingBox();
    assert(amount !== null, "the table of lines has amounts");
    expect(amount.x + amount.width).toBeLessThan(390);
  });
});

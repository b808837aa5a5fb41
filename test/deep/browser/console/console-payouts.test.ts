import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { screenFaults } from "../../../browser/console/screen-faults.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { StatementBooks } from "../../../integration/billing/statement-books.ts";
import { serversOf } from "../../../system/servers-of.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { press } from "./people-pages.ts";

const program = findChromium();
const PICTURES = process.env["PAYOUT_PICTURES"];
const WIDTHS = [1440, 390];

describe.skipIf(program === undefined)("payouts in the console", () => {
  let system: System;
  let browser: ConsoleBrowser;
  let pool: Pool;
  let partner: { readonly id: number; readonly workspace_id: number; readonly name: string };

  beforeAll(async () => {
    system = await startSystem();
    const cookies = await signInRoles(system);
    browser = await ConsoleBrowser.at(program ?? "", system.client.demo, cookies);
    pool = openPool({ url: (await serversOf(system)).postgres, applicationName: "test" });
    const { rows } = await pool.query<typeof partner>({
      text: `select f.id, f.workspace_id, f.name from membership m join affiliate f on f.id = m.affiliate_id
             where m.role = 'partner' order by m.id limit 1`,
    });
    assert(rows[0] !== undefined, "the demo has a partner");
    partner = rows[0];
    const books = new StatementBooks({ pool }, partner.workspace_id);
    await books.switchOn();
    const sale = { affiliateId: partner.id, currency: "USD", offerId: 1, eventCode: "default" };
    await books.earn({ ...sale, amount: "120" });
    await books.takeBack(40);
    await approveStatements();
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await browser.close();
    await pool.end();
    await system[Symbol.asyncDispose]();
  });

  const open = async (path: string, role: Role = "admin"): Promise<Page> => {
    const page = await browser.page(role, { width: 1440 });
    await page.goto(browser.base(role) + path);
    await settled(page);
    return page;
  };
  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  const approveStatements = async (): Promise<void> => {
    const page = await open("/money/statements");
    await press(page, "Close periods");
    await page.getByRole("button", { name: "Make the statements" }).click();
    await press(page, "Done");
    await page.getByLabel(/^Select \d+$/).check();
    await press(page, "Approve");
    await page.getByRole("button", { name: "Approve 1 statement" }).click();
    await page.locator(".badge", { hasText: "Approved" }).first().waitFor();
    await pool.query({
      text: "update statement set due_on = current_date - 1 where affiliate_id = $1 and status = 'approved'",
      values: [partner.id],
    });
    await page.context().close();
  };

  test("payment details are saved, shown masked, and hold payouts (N32, N56)", async () => {
    const page = await open("/account", "partner");
    await press(page, "Change details");
    await page.getByLabel("Account holder").fill("Anna Example");
    await page.getByLabel("IBAN", { exact: true }).fill("DE89 3704 0044 0532 0130 00");
    await page.getByLabel("BIC").fill("COBADEFFXXX");
    await picture(page, "details-form");
    await press(page, "Save details");
    await page.getByText("DE89…3000").waitFor();
    await page.getByText(/Payouts wait until/).waitFor();
    expect(await page.content()).not.toContain("370400440532013000");
    await picture(page, "details");
    expect(await axeFaults(page)).toEqual([]);
    await page.context().close();
  });

  test("a run is made, released, approved and paid, and the partner sees it (N53, N56)", async () => {
    const page = await open("/money/payouts");
    await press(page, "New run");
    await press(page, "Preview");
    const drawer = page.getByRole("dialog", { name: "New run" });
    await drawer.getByText("The payment details were changed").waitFor();
    await drawer.getByText(/1 held with \$120\.00/).waitFor();
    await picture(page, "new-run");
    expect(await axeFaults(page)).toEqual([]);
    await press(page, "Make the run");
    await page.getByRole("heading", { name: /^Run \d+$/, level: 1 }).waitFor();
    await picture(page, "held");
    await press(page, `Release ${partner.name}`);
    await page.getByLabel("Why it may be paid").fill("Asked the partner by phone");
    await page.getByRole("button", { name: "Release", exact: true }).last().click();
    await page.getByText("1 payment with $120.00").waitFor();
    await press(page, "Approve");
    await page
      .getByRole("dialog")
      .getByText(/1 payment with \$120\.00 on/)
      .waitFor();
    await picture(page, "approve");
    expect(await axeFaults(page)).toEqual([]);
    await press(page, "Approve 1 payment");
    await page.getByRole("heading", { name: "Results" }).waitFor();
    const reference = (await page.getByText(/^P\d+L\d+$/).textContent()) ?? "";
    await page
      .getByLabel("Results as CSV")
      .fill(`reference,status,external_id,amount\n${reference},paid,T-1,120.00\nP0L0,paid,T-2,1\n`);
    await press(page, "Enter the results");
    await page.getByText("1 applied, 0 unchanged, 1 rejected.").waitFor();
    await page.locator(".record-head .badge", { hasText: "Paid" }).waitFor();
    await picture(page, "paid");
    expect(await axeFaults(page)).toEqual([]);
    const path = new URL(page.url()).pathname;
    await page.context().close();

    const own = await open("/payouts", "partner");
    await own.locator("tbody tr", { hasText: reference }).getByText("Paid").waitFor();
    await own.context().close();

    for (const theme of ["light", "dark"] as const) {
      const staff = await browser.page("admin", { theme });
      for (const screen of [
        path,
        `${browser.base("admin")}/money/payouts`,
        `${browser.base("admin")}/partners/${partner.id}/payment`,
      ]) {
        const address = new URL(screen, browser.base("admin")).href;
        expect(await screenFaults(staff, address, WIDTHS), screen).toEqual([]);
        await picture(staff, `${theme}-${screen.split("/").at(-1) ?? ""}`);
      }
      await staff.context().close();
      const seen = await browser.page("partner", { theme });
      for (const screen of ["/payouts", "/account"]) {
        const address = browser.base("partner") + screen;
        expect(await screenFaults(seen, address, WIDTHS), screen).toEqual([]);
        await picture(seen, `${theme}-own-${screen.slice(1)}`);
      }
      await seen.context().close();
    }
  });
});

import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { postLedger } from "../../../../schemas/billing/post-ledger.ts";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../../schemas/postgres/transaction.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { screenFaults } from "../../../browser/console/screen-faults.ts";
import { field, press, question, RecordWorld, tab } from "./record-world.ts";

const drawer = (page: Page): Locator => page.locator(".drawer");

const program = findChromium();
const WIDTHS = [1440, 390];

describe.skipIf(program === undefined)("invoices of an advertiser", () => {
  let browser: ConsoleBrowser;
  let world: RecordWorld;
  let db: Pool;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    world = new RecordWorld(browser);
    const servers = await fetch(`${inject("landingServiceUrl")}servers`);
    const { postgres } = z.object({ postgres: z.string() }).parse(await servers.json());
    db = openPool({ url: postgres, applicationName: "test", connectionsMax: 2 });
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(async () => {
    await db.end();
    await browser.close();
  });

  /** Cost of the demo's advertiser in a currency that no other test uses. */
  const post = async (id: string, amount: bigint, currency: string): Promise<void> => {
    const { rows } = await db.query<{ workspace_id: number; offer_id: number }>({
      text: "select workspace_id, id as offer_id from offer where advertiser_id = 1 order by id limit 1",
    });
    const [offer] = rows;
    assert(offer !== undefined);
    const entry = { currency, offerId: offer.offer_id, eventCode: "default", count: 1 };
    await inTransaction(db, (tx) =>
      postLedger(tx, offer.workspace_id, [
        {
          kind: "conversion",
          sourceKind: "console-invoices",
          sourceId: id,
          entries: [
            { ...entry, account: "advertiser_receivable", ownerId: 1, amount },
            { ...entry, account: "revenue", ownerId: 0, amount: -amount },
          ],
        },
      ]),
    );
  };

  test("closed, approved, paid in two parts, and seen by the advertiser (N58)", async () => {
    await post("journey", 1_250_000n, "CHF");
    const page = await world.open("/money/invoices");
    await press(page, "Close period");
    await drawer(page).getByRole("combobox", { name: "Advertiser" }).click();
    await drawer(page).getByRole("combobox", { name: "Advertiser" }).fill("Demo Shop");
    await page
      .getByRole("option", { name: /Demo Shop/ })
      .first()
      .click();
    await page.getByLabel("Also what was posted since the last whole period, until now").check();
    await press(page, "Preview");
    await drawer(page).getByText("CHF 125.00").waitFor();
    await press(page, "Make the drafts");
    // Other tests of the same service may have left costs of this advertiser in other currencies.
    await page.getByText(/Closed \d+\./).waitFor();
    await page.keyboard.press("Escape");
    await page.goto(`${world.base}/money/invoices?currency=CHF`);
    await page.getByRole("link", { name: "Draft invoice" }).click();
    await page.getByRole("heading", { name: "Draft invoice", level: 1 }).waitFor();
    await press(page, "Approve");
    await page.getByRole("heading", { name: /^Invoice I-/, level: 1 }).waitFor();
    const number = (await page.locator("h1").textContent())?.replace("Invoice ", "") ?? "";
    await page.locator("tbody .cell-button").first().click();
    await drawer(page).getByText("CHF 125.00").waitFor();
    await page.keyboard.press("Escape");
    for (const [amount, reference, status] of [
      ["50", "part-1", "Part paid"],
      ["75.00", "part-2", "Paid"],
    ] as const) {
      await press(page, "Enter payment");
      await field(drawer(page), "Amount").fill(amount);
      await field(drawer(page), "Reference").fill(reference);
      await page
        .locator(".drawer")
        .getByText(`CHF ${amount.split(".")[0] ?? ""}.00`, { exact: true })
        .waitFor();
      await press(page, "Enter the payment");
      await page.locator(".record-head .badge", { hasText: new RegExp(`^${status}$`) }).waitFor();
    }
    await tab(page, "Payments").click();
    await page.getByText("CHF 125.00 of CHF 125.00 paid.").waitFor();
    await page.context().close();

    const own = await world.open("/invoices", "advertiser");
    const row = own.locator("tbody tr", { hasText: number });
    expect(await row.textContent()).toMatch(/Paid.*CHF\s125\.00.*CHF\s0\.00/);
    await row.getByRole("link").click();
    await own.getByRole("heading", { name: `Invoice ${number}`, level: 1 }).waitFor();
    const [file] = await Promise.all([own.waitForEvent("download"), press(own, "Page to print")]);
    expect(file.suggestedFilename()).toBe(`${number}.html`);
    await own.context().close();
  });

  test("what is wrong with a payment stands at its field, and nothing typed is lost (N58)", async () => {
    const page = await world.open("/money/invoices?of=payments");
    await press(page, "Enter payment");
    await field(drawer(page), "Amount").fill("1.005");
    await field(drawer(page), "Reference").fill("kept");
    await press(page, "Enter the payment");
    await page.locator("[aria-invalid=true]").first().waitFor();
    expect(await field(drawer(page), "Reference").inputValue()).toBe("kept");
    await page.keyboard.press("Escape");
    await question(page).waitFor();
    await press(page, "Keep editing");
    expect(await field(drawer(page), "Reference").inputValue()).toBe("kept");
    browser.forgive(/Failed to load resource/);
    await page.context().close();
  });

  test("the screens have no fault of axe, are not too wide, in light and dark (N58)", async () => {
    await post("look", 990_000n, "SEK");
    const invoices = await world.list("/invoices");
    const id = invoices[0]?.id ?? 0;
    for (const theme of ["light", "dark"] as const) {
      const page = await browser.page("admin", { theme });
      for (const path of [
        "/money/invoices",
        "/money/invoices?of=payments",
        `/money/invoices/${id}`,
        `/money/invoices/${id}/payments`,
        "/advertisers/1/tax",
      ])
        expect(await screenFaults(page, world.base + path, WIDTHS), path).toEqual([]);
      await page.context().close();
      const own = await browser.page("advertiser", { theme });
      for (const path of ["/invoices", `/invoices/${id}`])
        expect(await screenFaults(own, browser.base("advertiser") + path, WIDTHS), path).toEqual(
          [],
        );
      await own.context().close();
    }
  });
});

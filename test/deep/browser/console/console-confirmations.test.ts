import assert from "node:assert";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { atRest, ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { choose as chooseByName } from "./choose.ts";

const program = findChromium();
const Conversion = z.looseObject({
  id: z.string(),
  status: z.string(),
  status_reason: z.string(),
  payout: z.string(),
});
const One = z.object({ data: Conversion });

describe.skipIf(program === undefined)("confirmations by file in the console (N129)", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const call = async (path: string, body?: unknown): Promise<z.infer<typeof Conversion>> => {
    const headers = {
      authorization: `Bearer ${browser.demo.keys.admin}`,
      "content-type": "application/json",
    };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${browser.demo.base_url}${path}`, { headers, ...sent });
    return One.parse(await answer.json()).data;
  };
  const sendUnnamed = async (): Promise<void> => {
    const answer = await fetch(`${browser.demo.base_url}/conversion-updates`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/octet-stream",
      },
      body: "Conversion ID,Status\nx,perhaps\n",
    });
    assert.ok(answer.ok, "a key sends a file without a name");
  };
  const conversion = async (id: string): Promise<z.infer<typeof Conversion>> =>
    await call(`/conversions/${id}`);
  const open = async (
    role: "admin" | "analyst",
    options: { readonly width?: number; readonly theme?: "light" | "dark" } = {},
  ): Promise<Page> => {
    const page = await browser.page(role, options);
    await page.goto(`${browser.base(role)}/money/confirm`);
    await settled(page);
    return page;
  };
  const choose = async (page: Page, name: string, content: string): Promise<void> =>
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
  const press = async (page: Page | Locator, name: string): Promise<void> =>
    await page.getByRole("button", { name, exact: true }).click();

  test("a file is checked, its columns are corrected, and it is applied and undone", async () => {
    const before = await call("/conversions", { offer_id: 1, affiliate_id: 1, status: "approved" });
    const page = await open("admin");
    const content = `Conversion;My state;Payout\n${before.id};declined;\n${before.id};declined;\nx;declined;1,5\n`;
    await choose(page, "march.csv", content);
    await press(page, "Check the file");
    const shown = page.getByLabel("This file");
    await shown.getByText("3 rows: 2 refused, 1 named twice.", { exact: true }).waitFor();
    await shown.getByText("Columns of the file").click();
    await shown.getByLabel("My state").selectOption("status");
    await press(shown, "Check again with these columns");
    await shown
      .getByText("3 rows: 1 would change, 1 refused, 1 named twice.", { exact: true })
      .waitFor();
    const saved = page.waitForEvent("download");
    await press(shown, "Refused rows as CSV");
    const path = await (await saved).path();
    expect(await readFile(path, "utf8")).toContain('"4","payout","has a comma');
    expect(await shown.getByRole("table").textContent()).toContain("Payout before");
    expect((await conversion(before.id)).status).toBe("approved");
    await press(shown, "Change 1 conversion");
    await shown
      .getByText("3 rows: 1 changed, 1 refused, 1 named twice.", { exact: true })
      .waitFor();
    expect(await conversion(before.id)).toMatchObject({ status: "rejected" });
    // The address names it, also after a reload.
    await page.reload();
    await press(shown, "Undo this file");
    await shown.getByText(/get the status and amounts that they had before/).waitFor();
    await press(shown, "Yes, undo this file");
    await shown.getByText("3 rows: 1 undone, 1 refused, 1 named twice.", { exact: true }).waitFor();
    expect(await conversion(before.id)).toMatchObject({
      status: "approved",
      status_reason: before.status_reason,
      payout: before.payout,
    });
    await page.getByLabel("Past files").getByText("march.csv").first().waitFor();
    await page.context().close();
  });

  test("a file for several offers is checked against each of them, and past files have their names", async () => {
    const page = await open("admin");
    await choose(page, "two-offers.csv", "Order number,Status\nnobody-ordered,approved\n");
    for (const sought of ["Shop: fixed", "Shop: share"])
      await chooseByName(page, "Offers of the file", { sought });
    await press(page, "Check the file");
    // With the first offer alone, the order number would be sought in it and be unknown.
    await page.getByLabel("This file").getByText("1 row: 1 refused.", { exact: true }).waitFor();
    await sendUnnamed();
    await page.reload();
    const past = page.getByLabel("Past files");
    await past.getByRole("button", { name: "two-offers.csv", exact: true }).first().waitFor();
    const unnamed = past.getByRole("listitem").filter({ hasText: "File without a name" }).first();
    await unnamed.getByText("1 row: 1 refused").waitFor();
    expect(await unnamed.textContent()).toMatch(/by .+, \w{3} \d+, \d{4}/);
    await unnamed.getByRole("button").click();
    await page
      .getByLabel("This file")
      .getByRole("heading", { name: "File without a name" })
      .waitFor();
    expect(await page.getByText(/^File \d+$/).count()).toBe(0);
    await page.context().close();
  });

  test("the screen has no fault of access and fits a phone, and an analyst only reads", async () => {
    for (const theme of ["light", "dark"] as const) {
      const page = await open("admin", { theme });
      await choose(page, `${"w".repeat(200)}.csv`, "Conversion ID,Status\nx,perhaps\n");
      await press(page, "Check the file");
      await page.getByLabel("This file").getByText("1 row: 1 refused.").waitFor();
      await page.getByText("Columns of the file").click();
      await page.getByLabel("Reject them, for these offers and days").check();
      await settled(page);
      expect(await axeFaults(page)).toEqual([]);
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await atRest(page);
        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        expect([width, wide]).toEqual([width, width]);
        const folder = process.env["PICTURES"];
        if (folder !== undefined)
          await page.screenshot({
            path: `${folder}/confirm-${theme}-${width}.png`,
            fullPage: true,
          });
      }
      await page.context().close();
    }
    const page = await open("analyst");
    await page.getByLabel("Past files").waitFor();
    expect(await page.getByRole("button", { name: "Check the file" }).count()).toBe(0);
    await page.context().close();
  });
});

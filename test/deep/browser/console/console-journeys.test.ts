import assert from "node:assert";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { PASSWORD } from "../../../browser/console/sign-in-roles.ts";
import { choose } from "./choose.ts";

const program = findChromium();
const Report = z.object({ totals: z.record(z.string(), z.unknown()) });

describe.skipIf(program === undefined)("people use the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const rest = async (path: string, key = browser.demo.keys.admin): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}` };
    return await (await fetch(`${browser.demo.base_url}${path}`, { headers })).json();
  };
  const create = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
  };
  const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });

  test("somebody signs in with e-mail and password, and out again", async () => {
    const page = await browser.page();
    await page.goto(`${browser.origin}/console/`);
    await field(page, "E-mail").fill("analyst@demo.example");
    await field(page, "Password").fill("wrong-lamps-on-a-quay");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await field(page, "Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await expect.poll(() => page.url()).toBe(`${browser.origin}/console/w/demo/`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await field(page, "E-mail").waitFor();
  });

  test("the tiles of the dashboard are the totals of the report", async () => {
    const page = await browser.page("admin");
    const totalsNow = async (): Promise<unknown[]> => {
      const query = "/reports?preset=last30&metrics=clicks,conversions";
      const { totals } = Report.parse(await rest(query));
      return [String(totals["clicks"]), String(totals["conversions"])];
    };
    const shown = async (label: string): Promise<string | undefined> => {
      const tile = page.locator(".tile").filter({ hasText: label }).first();
      return (await tile.locator(".value").textContent())?.replaceAll(",", "");
    };
    // Other files send clicks to the same service, so the totals before and after must be the same.
    await expect
      .poll(
        async () => {
          const before = await totalsNow();
          await page.goto(`${browser.base("admin")}/?preset=last30`);
          await settled(page);
          const tiles = [await shown("Clicks"), await shown("Conversions")];
          const isCalm = isDeepStrictEqual(before, await totalsNow());
          return isCalm && isDeepStrictEqual(tiles, before);
        },
        { interval: 500 },
      )
      .toBe(true);
  });

  test("a range and a filter stay in the address, so a copied address shows the same", async () => {
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/reports?preset=last30&group_by=offer&sort=-clicks`);
    await settled(page);
    const first = page.locator("tbody tr:not(.totals) .cell-button").first();
    const name = await first.textContent();
    await first.click();
    await page.waitForURL(/filters=offer/);
    await settled(page);
    const other = await browser.page("analyst");
    await other.goto(page.url());
    await settled(other);
    expect(await other.locator("tbody tr:not(.totals) td:first-child").allTextContents()).toEqual([
      name,
    ]);
  });

  test("the CSV of a report has its rows and totals, with the rights of the tab", async () => {
    const page = await browser.page("partner");
    await page.goto(`${browser.base("partner")}/reports?preset=last30&group_by=offer`);
    await settled(page);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    expect(text).toMatch(/^\uFEFF"?Offer/);
    expect(text).not.toContain("Revenue");
  });

  test("an admin makes an advertiser and an offer; faults stand at their fields", async () => {
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/advertisers`);
    await page.getByRole("button", { name: "New advertiser" }).click();
    await field(page, "Name").fill("Journey shop");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Create the advertiser" }).click();
    await page.getByRole("heading", { name: "Journey shop" }).waitFor();
    await page.goto(`${browser.base("admin")}/offers`);
    await page.getByRole("button", { name: "New offer" }).click();
    await choose(page, "Advertiser", { sought: "Journey shop" });
    await field(page, "Name").fill("Journey offer");
    await field(page, "Destination").fill("no address");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Create the offer" }).click();
    const fault = page
      .locator(".field")
      .filter({ has: field(page, "Destination") })
      .locator(".fault");
    await fault.waitFor();
    expect(await field(page, "Name").inputValue()).toBe("Journey offer");
    await field(page, "Destination").fill("https://shop.example/?c={click_id}");
    await page.getByRole("button", { name: "Money and events" }).click();
    await field(page, "Payout value").fill("12.50");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Create the offer" }).click();
    await page.getByRole("heading", { name: "Journey offer" }).waitFor();
    await page.getByRole("link", { name: "Terms and events" }).click();
    await page.getByText("$12.50").first().waitFor();
  });

  test("copied cells are no formulas for a spreadsheet, and one cell alone is copied as it is written", async () => {
    const name = '=HYPERLINK("https://evil.example")';
    await create("/affiliates", { name, code: "FORMULA" });
    const page = await browser.page("admin");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${browser.base("admin")}/partners?q=FORMULA`);
    await page.getByRole("button", { name }).waitFor();
    // Rows that are drawn anew would lose what is selected.
    await settled(page);
    const copied = async (selector: string): Promise<unknown> => {
      await page.evaluate(
        `getSelection().selectAllChildren(document.querySelector("${selector}"))`,
      );
      await page.keyboard.press("Control+c");
      return await page.evaluate("navigator.clipboard.readText()");
    };
    expect(await copied("tbody tr")).toContain(`'${name}`);
    expect(await copied("tbody tr bdi")).toBe(name);
  });

  test("filters that would break the address are refused at their field", async () => {
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/reports`);
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByLabel("Dimension").selectOption("sub1");
    const value = page.getByLabel("Value; several with |");
    await value.fill(Array.from({ length: 1_000 }, (_, at) => `campaign-${at}`).join("|"));
    await page.getByText("too long for an address").waitFor();
    await expect
      .poll(async () => await page.getByRole("button", { name: "Add" }).isDisabled())
      .toBe(true);
    await value.fill("one|two|three|four|five");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("one, two, three and 2 more").waitFor();
  });

  test("a partner asks for an offer, a manager approves, and the partner has the link", async () => {
    const code = "JOURNEYASK";
    await create("/offers", {
      code,
      name: "Asked for",
      advertiser_id: 1,
      destination_url: "https://shop.example/",
      visibility: "approval",
      payout: "1",
    });
    const partner = await browser.page("partner");
    await partner.goto(`${browser.base("partner")}/offers?q=${code}`);
    await partner.getByRole("button", { name: "Ask for access" }).click();
    await field(partner, "Message").fill("My readers want it");
    await partner.locator(".drawer").getByRole("button", { name: "Ask for access" }).click();
    await partner.locator(".drawer").waitFor({ state: "detached" });
    const admin = await browser.page("admin");
    await admin.goto(`${browser.base("admin")}/inbox`);
    await admin.getByLabel(`Select ${code} DEMOANNA`).check();
    await admin.getByRole("button", { name: "Approve" }).click();
    await admin.getByLabel(`Select ${code} DEMOANNA`).waitFor({ state: "detached" });
    await partner.reload();
    const link = partner.getByText(`/r/${code}/DEMOANNA`);
    await link.waitFor();
    expect(await link.textContent()).toBe(`${browser.demo.tracking_url}/r/${code}/DEMOANNA`);
  });

  test("an analyst finds no button that writes, and the API refuses a write by hand", async () => {
    const page = await browser.page("analyst");
    for (const screen of ["/offers", "/partners", "/advertisers", "/workspace/keys"]) {
      await page.goto(browser.base("analyst") + screen);
      await settled(page);
      expect(await page.getByRole("button", { name: /^New/ }).count(), screen).toBe(0);
    }
    const status = await page.evaluate(
      `fetch("/api/v1/session", { headers: { "x-tracker-membership": "0" } }).then((answer) => answer.json()).then(async ({ data }) =>
        (await fetch("/api/v1/workspace", {
          method: "PATCH",
          headers: { "content-type": "application/json", "x-tracker-membership": String(data.memberships[0].id) },
          body: "{}",
        })).json()).then(({ error }) => error.code)`,
    );
    expect(status).toBe("read_only_key");
  });

  test("a conversion opens with its history, and markup in its notes stays text", async () => {
    const note = '<img src="x" onerror="document.title=1">';
    // Other files make conversions at the same time: this one is found by its order.
    const order = `history-${Date.now()}`;
    const sale = { offer_id: "DEMOSHOP", affiliate_id: "DEMOANNA", adv_txid: order, notes: note };
    await create("/conversions", sale);
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/conversions?preset=last30&adv_txid=${order}`);
    await page.locator("tbody .cell-button").click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    await page.getByText(note).waitFor();
    expect(await page.title()).not.toBe("1");
    await page.keyboard.press("Escape");
    await page.locator(".drawer").waitFor({ state: "detached" });
    await page.waitForURL((url) => !url.searchParams.has("open"));
  });
});

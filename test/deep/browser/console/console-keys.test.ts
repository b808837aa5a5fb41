import assert from "node:assert";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { expectOnce, expectPace, timed } from "./paced.ts";

const program = findChromium();
const Made = z.object({ data: z.object({ id: z.union([z.string(), z.number()]) }) });
const Offer = z.object({ data: z.object({ id: z.number(), code: z.string() }) });
const Key = z.object({ data: z.object({ key: z.string() }) });
const Clicks = z.object({ data: z.array(z.object({ click_id: z.string(), gclid: z.string() })) });

describe.skipIf(program === undefined)("quick hands in the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const send = async (
    path: string,
    body?: unknown,
    key = browser.demo.keys.admin,
  ): Promise<unknown> => {
    const answer = await fetch(`${browser.demo.base_url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert(answer.ok, `${path}: ${answer.status} ${answer.ok ? "" : await answer.text()}`);
    return await answer.json();
  };
  const offerOf = async (name: string): Promise<{ readonly id: number; readonly code: string }> =>
    Offer.parse(
      await send("/offers", {
        name,
        advertiser_id: 1,
        destination_url: "https://shop.example/?c={click_id}",
        payout: "1",
      }),
    ).data;
  const adminKey = async (name: string): Promise<string> =>
    Key.parse(await send("/keys", { name, role: "admin" })).data.key;
  const search = (page: Page) => page.getByRole("combobox", { name: "Search" });
  const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });

  test("a click ID, a gclid, an order or a name in Ctrl K opens its record (journey 12)", async () => {
    const gclid = `keys-${Date.now()}`;
    await fetch(`${browser.demo.tracking_url}/r/DEMOSHOP/DEMOANNA?gclid=${gclid}`, {
      redirect: "manual",
    });
    const day = new Date().toISOString().slice(0, 10);
    let click = "";
    await expect
      .poll(async () => {
        const { data } = Clicks.parse(await send(`/clicks?gclid=${gclid}&from=${day}`));
        click = data[0]?.click_id ?? "";
        return click;
      })
      .not.toBe("");
    const order = `ORDER-${Date.now()}`;
    const sale = { offer_id: "DEMOSHOP", affiliate_id: "DEMOANNA", adv_txid: order };
    const { id: conversion } = Made.parse(await send("/conversions", sale)).data;
    const { id: partner } = Made.parse(
      await send("/affiliates", { name: "Quick Hands Media" }),
    ).data;
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/workspace`);
    await settled(page);
    const sought = [
      [click, `/clicks?open=${click}`],
      [gclid, `/clicks?open=${click}`],
      [order, `/conversions?open=${conversion}`],
      [String(conversion), `/conversions?open=${conversion}`],
      ["quick hands", `/partners/${partner}`],
    ] as const;
    // A partner has a page, the others open beside their lists.
    const placeOf = (address: string): string =>
      address.startsWith("/partners/") ? "#screen" : ".drawer";
    const opened = new Set<string>();
    await expectPace("search to record", 700, async (round) => {
      const [text, address] = sought[round % sought.length] ?? sought[0];
      await page.keyboard.press("Control+k");
      await search(page).fill(text);
      const ms = await timed(async () => {
        await page.keyboard.press("Enter");
        await page.waitForURL(`${browser.base("admin")}${address}`);
        await page
          .locator(`${placeOf(address)} .facts`)
          .first()
          .waitFor();
      });
      opened.add(text);
      await page.keyboard.press("Escape");
      await page.locator(".drawer").waitFor({ state: "detached" });
      return ms;
    });
    expect(opened.size).toBe(sought.length);
  });

  test("the palette offers each role only what it may", async () => {
    const offered = async (role: "admin" | "analyst" | "partner" | "advertiser", text: string) => {
      const page = await browser.page(role);
      await page.goto(`${browser.base(role)}/`);
      await settled(page);
      await page.keyboard.press("Control+k");
      await search(page).fill(text);
      await page.getByRole("status").filter({ hasText: /found/i }).first().waitFor();
      const names = await page.getByRole("option").allTextContents();
      await page.context().close();
      return names;
    };
    expect(await offered("admin", "new offer")).toEqual(["New offer"]);
    for (const role of ["analyst", "partner", "advertiser"] as const)
      expect(await offered(role, "new offer"), role).toEqual([]);
    expect(await offered("partner", "audit")).toEqual([]);
    // The name of the partner DEMOANNA.
    expect(await offered("advertiser", "anna")).toEqual([]);
    expect((await offered("partner", "demoshop")).length).toBe(1);
  });

  test("single keys open screens and walk through rows, and a person can switch them off", async () => {
    const page = await browser.page("admin");
    await page.goto(`${browser.base("admin")}/`);
    await settled(page);
    // The second key counts for a moment only, which a busy machine may let pass between the two.
    await expect
      .poll(async () => {
        await page.keyboard.press("g");
        await page.keyboard.press("o");
        await settled(page);
        return page.url();
      })
      .toBe(`${browser.base("admin")}/offers`);
    await expect.poll(async () => await page.title()).toMatch(/^Offers · /);
    await expect.poll(async () => await page.evaluate("document.activeElement.id")).toBe("screen");
    await page.locator("tbody tr").nth(1).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.locator("tbody tr").nth(1).locator(".cell-button:focus").waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/offers\/\d+$/);
    await page.goBack();
    await page.locator("tbody tr").nth(1).waitFor();
    await page.keyboard.press("/");
    await expect
      .poll(async () => await page.evaluate("document.activeElement.dataset.key"))
      .toBe("filter");
    // What is typed into a field is text.
    await page.keyboard.type("gr?");
    expect(page.url()).toBe(`${browser.base("admin")}/offers`);
    await page.goto(`${browser.base("admin")}/you`);
    await settled(page);
    await page.keyboard.press("?");
    await heading(page, "Keyboard").waitFor();
    await page.keyboard.press("Escape");
    const choice = page.getByRole("checkbox", { name: /Single keys/ });
    await stored(page, async () => await choice.uncheck());
    await page.reload();
    await settled(page);
    await expect.poll(async () => await choice.isChecked()).toBe(false);
    await heading(page, "You").click();
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await search(page).waitFor();
    expect(await heading(page, "Keyboard").count()).toBe(0);
    await page.keyboard.press("Escape");
    await stored(page, async () => await choice.check());
  });

  test("620 pending conversions are approved in two parts, duplicates are listed (journey 9)", async () => {
    const offer = await offerOf("Queue of 620");
    const keys = await Promise.all(["one", "two"].map(async (name) => await adminKey(name)));
    const sale = { offer_id: offer.code, affiliate_id: "DEMOANNA", status: "pending" };
    for (let from = 0; from < 620; from += 20) {
      const key = keys[from % 40 === 0 ? 0 : 1];
      await Promise.all(Array.from({ length: 20 }, async () => send("/conversions", sale, key)));
    }
    // Two sales of one click: the second is a duplicate.
    const clicked = await fetch(`${browser.demo.tracking_url}/r/${offer.code}/DEMOANNA`, {
      redirect: "manual",
    });
    const click = new URL(clicked.headers.get("location") ?? "").searchParams.get("c") ?? "";
    for (const order of ["first", "second"])
      await fetch(
        `${browser.demo.tracking_url}/pb?token=${browser.demo.postback_token}&click_id=${click}&txid=${order}-${click}`,
      );
    const page = await browser.page("admin");
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "PATCH" && request.url().endsWith("/conversions")) sent += 1;
    });
    await page.goto(`${browser.base("admin")}/conversions?preset=last7&offer_id=${offer.id}`);
    await settled(page);
    await expect
      .poll(async () => await send(`/conversions?offer_id=${offer.id}&is_duplicate=true`))
      .toMatchObject({ data: [{ status: "rejected" }] });
    await page.reload();
    await settled(page);
    await page.getByLabel("All rows").check();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByText("622 chosen").waitFor();
    await expectDrawnInParts(page, 622);
    await expectOnce("620 conversions approved", 10_000, async () => {
      await page.locator(".chosen").getByLabel("Reason").fill("checked by hand");
      await page.keyboard.press("Tab");
      await page.keyboard.press("a");
      await page.getByRole("button", { name: "Approve now" }).click();
      await page.getByText(/^62\d conversions approved/).waitFor();
    });
    expect(sent).toBe(2);
    const skipped = page.locator(".skipped li").filter({ hasText: "duplicate" });
    await expect.poll(async () => await skipped.count()).toBe(1);
    const left = await send(`/conversions?offer_id=${offer.id}&status=pending`);
    expect(left).toMatchObject({ data: [] });
    await settled(page);
    await page
      .locator("tbody tr")
      .filter({ hasText: "approved" })
      .last()
      .locator(".cell-button")
      .click();
    await page
      .locator(".drawer")
      .getByText(/by Demo admin/)
      .waitFor();
  });

  test("a report is saved, found again by name, shared, renamed and deleted", async () => {
    const page = await browser.page("analyst");
    const address = `${browser.base("analyst")}/reports?preset=last30&group_by=country&sort=-clicks`;
    await page.goto(address);
    await settled(page);
    const name = `Countries ${Date.now()}`;
    const menu = async (item: string): Promise<void> => {
      await page.getByRole("button", { name: `More about ${name}` }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByLabel("Name of what is shown now").fill(name);
    await page.getByRole("button", { name: "Save the view" }).click();
    await page.locator(".popup").getByRole("link", { name }).waitFor();
    const other = await browser.page("admin");
    await other.goto(`${browser.base("admin")}/`);
    await settled(other);
    expect(await other.getByRole("link", { name }).count()).toBe(0);
    await menu("Share");
    await page.locator(".popup").getByText("Shared", { exact: true }).waitFor();
    await other.reload();
    await settled(other);
    await other.getByRole("navigation").getByRole("link", { name }).waitFor();
    await other.keyboard.press("Control+k");
    await search(other).fill(name);
    await other.keyboard.press("Enter");
    await other.waitForURL(/group_by=country/);
    await settled(other);
    await expect
      .poll(async () => (await other.locator("thead th").first().textContent())?.trim())
      .toBe("Country");
    await menu("Rename");
    await page.getByLabel("New name").fill(`${name} renamed`);
    await page.getByRole("button", { name: "Rename" }).click();
    await page
      .locator(".popup")
      .getByRole("link", { name: `${name} renamed` })
      .waitFor();
    await page.getByRole("button", { name: `More about ${name} renamed` }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.locator(".popup").getByRole("link", { name }).waitFor({ state: "detached" });
  });
});

/** Changes a preference, and waits until the service has it. */
async function stored(page: Page, change: () => Promise<void>): Promise<void> {
  const answered = page.waitForResponse((answer) => answer.request().method() === "PATCH");
  await change();
  expect((await answered).status()).toBe(200);
  await settled(page);
}

/** The page has only the rows in view of a long list. A screen reader learns of all, and the last row is there after scrolling. */
async function expectDrawnInParts(page: Page, count: number): Promise<void> {
  const table = page.locator(".data-table");
  const last = table.locator(`tr[aria-rowindex="${count + 1}"]`);
  await expect.poll(async () => await table.getAttribute("aria-rowcount")).toBe(String(count + 1));
  expect(await table.locator("tbody tr").count()).toBeLessThan(100);
  expect(await last.count()).toBe(0);
  await page.evaluate("document.querySelector('.table-frame').scrollTo(0, 1e9)");
  await last.waitFor();
  await expect.poll(async () => await last.getByRole("checkbox").isChecked()).toBe(true);
  expect(await table.locator("tbody tr").count()).toBeLessThan(100);
}

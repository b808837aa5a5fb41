import assert from "node:assert";
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { axeFaults } from "../../../browser/console/axe-faults.ts";
import { ConsoleBrowser, type Role, settled } from "../../../browser/console/console-browser.ts";
import { choose, optionsOf } from "./choose.ts";

const program = findChromium();
const ANNA = "Anna's blog";
const One = z.object({ data: z.object({ id: z.int() }) });
const List = z.object({ data: z.array(z.object({ id: z.int() })) });

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

  const call = async (method: string, path: string, body?: object): Promise<Response> =>
    await fetch(browser.demo.base_url + path, {
      method,
      headers: {
        authorization: `Bearer ${browser.demo.keys.admin}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const partnerOf = async (code: string): Promise<{ readonly id: number }> => {
    const answer = await call("GET", `/affiliates?q=${code}`);
    const [partner] = List.parse(await answer.json()).data;
    assert(partner !== undefined, `the demo has the partner ${code}`);
    return partner;
  };

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
      expect(await page.locator(`[id="${active ?? ""}"] .palette-title`).textContent()).toBe(
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
    await expect.poll(() => input.inputValue()).toBe(ANNA);
    // Code and ID find it, too.
    await input.fill("DEMOANNA");
    await options.filter({ hasText: ANNA }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Discard changes?" }).waitFor();
    await page.context().close();
  });

  test("each row of a list names its record, not only the first row", async () => {
    const names = ["First of names", "Second of names", "Third of names"];
    for (const name of names) {
      const made = await call("POST", "/advertisers", { name });
      const { id } = One.parse(await made.json()).data;
      const offer = { name: `Offer of ${name}`, destination_url: "https://shop.example/" };
      expect((await call("POST", "/offers", { ...offer, advertiser_id: id })).status).toBe(201);
    }
    const page = await open("admin", "/offers?q=of+names");
    const rows = page.getByRole("row").filter({ hasText: "of names" });
    for (const name of names)
      await rows
        .filter({ hasText: `Offer of ${name}` })
        .getByRole("cell", { name, exact: true })
        .waitFor();
    expect(await rows.getByText(/^#\d+$/).count()).toBe(0);
    await page.context().close();
  });

  test("a list is filtered by a partner's name, and a copied address says the same name (D16)", async () => {
    for (const [code, name] of [
      ["NAMEDONE", "DEMOANNA"],
      ["NAMEDTWO", "DEMOBOB"],
    ] as const) {
      const affiliate_id = (await partnerOf(name)).id;
      const made = await call("POST", "/coupons", { code, affiliate_id });
      expect(made.status).toBe(201);
    }
    const page = await open("admin", "/rules?of=coupons");
    const codes = page.locator(".data-table tbody td:first-child");
    await codes.filter({ hasText: "NAMEDTWO" }).waitFor();
    await choose(page, "Partner", { sought: ANNA });
    await page.waitForURL(/[?&]affiliate_id=\d+/);
    await codes.filter({ hasText: "NAMEDTWO" }).waitFor({ state: "detached" });
    await codes.filter({ hasText: "NAMEDONE" }).waitFor();
    await page.reload();
    const input = page.getByRole("combobox", { name: "Partner", exact: true });
    await expect.poll(() => input.inputValue()).toBe(ANNA);
    await press(page, "Clear partner");
    await page.waitForURL((url) => !url.searchParams.has("affiliate_id"));
    await codes.filter({ hasText: "NAMEDTWO" }).waitFor();
    await choose(page, "Partner", { sought: ANNA });
    await press(page, "Clear partner");
    // The last choice comes first.
    await input.click();
    await expect.poll(() => optionsOf(page, "Partner").first().textContent()).toContain(ANNA);
    await page.context().close();
  });

  test("a slow answer never stands in for a later one, and a list that fails is read again", async () => {
    const page = await open("admin", "/rules?of=coupons");
    await page.route("**/api/v1/affiliates?*", async (route) => {
      const url = new URL(route.request().url());
      const q = url.searchParams.get("q");
      if (q === null) {
        // There are more partners than the first answer has.
        const answer = await route.fetch();
        await route.fulfill({
          json: { ...z.looseObject({}).parse(await answer.json()), next_cursor: "x" },
        });
      } else if (q === "slow") late.push(route);
      else if (q === "gone")
        await route.fulfill({ status: 404, json: { error: { code: "not_found" } } });
      else await route.continue();
    });
    const late: Route[] = [];
    const input = page.getByRole("combobox", { name: "Partner", exact: true });
    await input.fill("slow");
    await expect.poll(() => late.length).toBe(1);
    await page.getByText("Searching", { exact: true }).waitFor();
    await input.fill("anna");
    await optionsOf(page, "Partner").filter({ hasText: ANNA }).waitFor();
    const slow = { data: [{ id: 99, name: "Too late", code: "LATE" }], next_cursor: null };
    await late[0]?.fulfill({ json: slow }).catch(() => undefined);
    await input.fill("gone");
    await page.getByText("The list cannot be read now.").waitFor();
    expect(await page.getByText("Too late").count()).toBe(0);
    await page.unroute("**/api/v1/affiliates?*");
    await press(page, "Try again");
    await page.getByText("Nothing found").waitFor();
    await page.context().close();
  });

  test("a list of 100 postbacks asks for the names of its offers and partners once each", async () => {
    const page = await browser.page("admin");
    const rows = Array.from({ length: 100 }, (_none, at) => ({
      id: at + 1,
      created_by_affiliate: false,
      created_at: "2026-11-01T00:00:00.000Z",
      updated_at: "2026-11-01T00:00:00.000Z",
      affiliate_id: at + 1,
      offer_id: at + 1,
      event_code: null,
      kind: "s2s",
      method: "GET",
      url: `https://partner.example/${at}`,
      body: "",
      fire_on: "approved",
      status: "active",
    }));
    const asked: string[] = [];
    await page.route(/\/api\/v1\/postbacks(\?|$)/, (route) =>
      route.fulfill({ json: { data: rows, next_cursor: null } }),
    );
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/api\/v1\/(offers|affiliates)/.test(pathname)) asked.push(pathname);
    });
    await page.goto(`${browser.base("admin")}/integrations`);
    await page.locator("tbody tr", { hasText: ANNA }).first().waitFor();
    await settled(page);
    expect(asked.toSorted()).toEqual(["/api/v1/affiliates", "/api/v1/offers"]);
    // A record that is gone keeps its ID.
    await page.locator("tbody tr", { hasText: "#100" }).first().waitFor();
    await page.context().close();
  });

  test("a partner sees offers by name and never asks for what only staff may read", async () => {
    const page = await browser.page("partner");
    const refused: string[] = [];
    page.on("response", (answer) => {
      if (answer.status() === 403 || answer.status() === 404) refused.push(answer.url());
    });
    for (const path of ["/postbacks", "/conversions", "/clicks", "/links"]) {
      await page.goto(browser.base("partner") + path);
      await settled(page);
    }
    expect(refused).toEqual([]);
    await page.context().close();
  });

  test("a click says its offer and partner by name, with links, in words and without columns", async () => {
    const page = await open("admin", "/clicks?preset=last30");
    await page.locator(".data-table .cell-button").first().click();
    const drawer = page.locator(".drawer");
    await drawer.getByRole("heading", { name: "Visitor" }).waitFor();
    const names = await drawer.locator("dt").allTextContents();
    expect(names).toContain("Offer");
    expect(names.filter((name) => /^[a-z]|_| id$/.test(name))).toEqual([]);
    await drawer.locator("dd a[href*='/offers/']").click();
    await page.waitForURL(/\/offers\/\d+$/);
    await page.context().close();
  });

  test("the audit log says what was done in words, with the request below and names of records", async () => {
    const { id } = await partnerOf("DEMOANNA");
    expect((await call("PATCH", `/affiliates/${id}`, { tags: ["named"] })).status).toBe(200);
    const page = await open("admin", "/workspace/audit?preset=today");
    const row = page.locator("tbody tr", { hasText: `PATCH /affiliates/${id}` }).first();
    await row.getByText("Change a partner").waitFor();
    await row.getByRole("link", { name: ANNA }).waitFor();
    await row.getByText("Done", { exact: true }).waitFor();
    await page.context().close();
  });

  test("time zone and currency of the workspace are chosen, and countries of an offer have names", async () => {
    const page = await open("admin", "/workspace");
    const zone = page.getByRole("combobox", { name: "Time zone", exact: true });
    await choose(page, "Time zone", { sought: "berl", name: "Europe/Berlin" });
    expect(await zone.inputValue()).toBe("Europe/Berlin");
    await choose(page, "Currency", { sought: "swiss", name: "CHF" });
    // What was chosen is not saved.
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${browser.base("admin")}/offers/1/targeting`);
    await page.getByRole("button", { name: "Edit targeting" }).click();
    await choose(page, "Countries", { sought: "germ", name: "Germany" });
    await choose(page, "Countries", { sought: "aust", name: "Austria" });
    await choose(page, "Browsers", { sought: "Netscape", name: "as typed" });
    const chosen = page.getByRole("list", { name: "Countries: chosen" }).getByRole("listitem");
    expect(await chosen.allTextContents()).toEqual(["Germany", "Austria"]);
    await page.getByRole("button", { name: "Remove countries 1" }).click();
    expect(await chosen.allTextContents()).toEqual(["Austria"]);
    await page.context().close();
  });

  test("languages, regions and cities of an offer are chosen, also while their lists are away (#39)", async () => {
    const page = await open("admin", "/offers/1/targeting");
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Edit targeting" }).click();
    await choose(page, "Languages", { sought: "germ", name: "German" });
    await choose(page, "Languages", { sought: "pt-BR", name: "as typed" });
    const chosen = async (label: string): Promise<string[]> =>
      await page
        .getByRole("list", { name: `${label}: chosen` })
        .getByRole("listitem")
        .allTextContents();
    expect(await chosen("Languages")).toEqual(["German", "Brazilian Portuguese"]);
    await choose(page, "Regions", { sought: "No region of any click", name: "as typed" });
    expect(await chosen("Regions")).toEqual(["No region of any click"]);
    const away = { error: { code: "unavailable", message: "Reports are not available." } };
    await page.route("**/api/v1/reports?**", (route) => route.fulfill({ status: 503, json: away }));
    await choose(page, "Cities", { sought: "Springfield", name: "as typed" });
    expect(await chosen("Cities")).toEqual(["Springfield"]);
    browser.forgive(/status of 503/);
    await page.context().close();
  });
});

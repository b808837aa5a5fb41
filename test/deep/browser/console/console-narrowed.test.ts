import assert from "node:assert";
import type { Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, SCREENS, settled } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import { ListPeople } from "./list-people.ts";
import { field, press } from "./people-pages.ts";

const program = findChromium();

/** What a manager of partners may do. */
const MANAGER = [
  "dashboard.read",
  "reports.read",
  "offers.read",
  "affiliates.read",
  "affiliates.write",
  "conversions.read",
  "clicks.read",
  "postbacks.read",
  "creatives.read",
  "links.read",
];
/** Less than any screen of records needs. */
const LOOKS_ON = ["dashboard.read", "reports.read"];
/** Buttons that begin a change. */
const BEGINS = /^(?:New|Add|Edit|Import|Invite|Record|Change|Convert)\b/;

const LINKS = `[...document.querySelectorAll("nav a")].map((one) => one.href)`;
const BUTTONS = `[...document.querySelectorAll("main button:enabled")].filter((one) => one.checkVisibility())
  .map((one) => one.ariaLabel ?? one.textContent)`;

describe.skipIf(program === undefined)("a member of the staff with fewer rights", () => {
  let browser: ConsoleBrowser;
  let people: ListPeople;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
    people = new ListPeople(browser);
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  /** Somebody who may do only this. */
  const narrowed = async (permissions: readonly string[]): Promise<Page> => {
    const { page, email } = await people.join();
    const admin = await browser.page("admin");
    await admin.goto(`${browser.base("admin")}/`);
    await settled(admin);
    const status = await admin.evaluate<number>(`(async () => {
      const own = { "x-tracker-membership": "0" };
      const { data } = await (await fetch("/api/v1/session", { headers: own })).json();
      const of = data.memberships.find(({ role }) => role === "admin").id;
      const headers = { "content-type": "application/json", "x-tracker-membership": String(of) };
      const list = await (await fetch("/api/v1/members?limit=200", { headers })).json();
      const { id } = list.data.find(({ email }) => email === ${JSON.stringify(email)});
      const body = ${JSON.stringify(JSON.stringify({ permissions }))};
      return (await fetch("/api/v1/members/" + id, { method: "PATCH", headers, body })).status;
    })()`);
    expect(status).toBe(200);
    await admin.context().close();
    await page.goto(`${browser.base("admin")}/`);
    await settled(page);
    return page;
  };
  const refusals = (page: Page): string[] => {
    const refused: string[] = [];
    page.on("response", (answer: Response) => {
      if (answer.status() === 403) refused.push(`${new URL(page.url()).pathname}: ${answer.url()}`);
    });
    return refused;
  };
  const notices = async (page: Page): Promise<readonly string[]> =>
    (await page.locator(".notice.bad").allTextContents()).map(
      (text) => `${new URL(page.url()).pathname}: ${text}`,
    );

  /** The buttons of a screen that begin a change. */
  const begins = async (page: Page): Promise<readonly string[]> => {
    const names = await page.evaluate<string[]>(BUTTONS);
    const trimmed = names.map((name) => name.trim());
    return [...new Set(trimmed.filter((name) => BEGINS.test(name)))];
  };
  /** What a button has opened: a drawer, a dialog, a popup, fields or another screen. */
  const OPENED = ".drawer, [role=dialog], .popup, main form";

  test.each([
    ["manager of partners", MANAGER, ["/partners", "/offers", "/inbox", "/conversions"]],
    ["person who looks on", LOOKS_ON, ["/reports"]],
  ])("a %s meets no refusal on any screen, and no dead button", async (_, rights, screens) => {
    const page = await narrowed(rights);
    const refused = refusals(page);
    const faults: string[] = [];
    const places = await page.evaluate<string[]>(LINKS);
    const base = browser.base("admin");
    for (const screen of screens) expect(places).toContain(base + screen);
    for (const missing of ["/workspace", "/workspace/keys", "/money", "/advertisers"])
      expect(places).not.toContain(base + missing);
    // Also screens that the navigation leaves out, because people send each other addresses.
    for (const place of new Set([...places, ...SCREENS.admin.map((path) => base + path)])) {
      await page.goto(place);
      await settled(page);
      faults.push(...(await notices(page)));
      for (const name of await begins(page)) {
        const before = await page.locator(OPENED).count();
        await page.getByRole("button", { name, exact: true }).first().click();
        await settled(page);
        if (page.url() === place && (await page.locator(OPENED).count()) <= before)
          faults.push(`${place}: "${name}" does nothing`);
        faults.push(...(await notices(page)));
        await page.goto("about:blank");
        await page.goto(place);
        await settled(page);
      }
    }
    expect([...faults, ...refused]).toEqual([]);
    await page.context().close();
  });

  test("a manager of partners decides a request, and invites partners alone", async () => {
    const page = await narrowed(MANAGER);
    const refused = refusals(page);
    await page.goto(`${browser.base("admin")}/workspace/people`);
    await settled(page);
    expect(await page.getByRole("button", { name: /^(?:Change|Deactivate)/ }).count()).toBe(0);
    await press(page, "Invite");
    const drawer = page.locator(".drawer");
    expect(await field(drawer, "Role").locator("option").allTextContents()).toEqual(["Partner"]);
    await field(drawer, "E-mail").fill(`asked-${Date.now()}@people.example`);
    await choose(drawer, "Partner", { sought: "Anna's blog" });
    await press(drawer, "Create invite link");
    await drawer.locator("code").waitFor();
    expect(refused).toEqual([]);
    await page.context().close();
  });
});

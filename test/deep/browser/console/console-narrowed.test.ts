import assert from "node:assert";
import type { Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { ConsoleBrowser, SCREENS, settled } from "../../../browser/console/console-browser.ts";
import { ListPeople } from "./list-people.ts";

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
      const { data } = await (await fetch("/api/v1/session")).json();
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
  const faultsOf = (page: Page): string[] => {
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

  test.each([
    ["manager of partners", MANAGER],
    ["person who looks on", LOOKS_ON],
  ])("a %s meets no refusal on any screen, and no button that leads to one", async (_, rights) => {
    const page = await narrowed(rights);
    const faults = faultsOf(page);
    const places = await page.locator("nav a").evaluateAll("(links) => links.map((a) => a.href)");
    for (const path of [
      ...SCREENS.admin.map((one) => browser.base("admin") + one),
      ...z.array(z.string()).parse(places),
    ]) {
      await page.goto(path);
      await settled(page);
      faults.push(...(await notices(page)));
      const names = (await page
        .locator("main button:enabled:visible")
        .evaluateAll(
          "(all) => all.map((one) => (one.ariaLabel ?? one.textContent ?? '').trim())",
        )) as string[];
      for (const name of new Set(names.filter((one) => BEGINS.test(one)))) {
        console.log(path, "BUTTON", name);
      }
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

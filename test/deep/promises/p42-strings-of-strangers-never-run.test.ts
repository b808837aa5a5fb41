import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Demo } from "../../../deploy/local/demo-file.ts";
import { findChromium } from "../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  SCREENS,
  settled,
} from "../../browser/console/console-browser.ts";
import { signInRoles } from "../../browser/console/sign-in-roles.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { chosenBySeed, SEED } from "../../system/seed.ts";
import { ALARM, corpus } from "./hostile-strings/corpus.ts";
import { HostileWorld } from "./hostile-strings/hostile-world.ts";

const program = findChromium();
const STRINGS = corpus(IS_FULL);
/** Records of each list that are opened. */
const DRAWERS = IS_FULL ? STRINGS.length : 1;
const MINUTES = IS_FULL ? 60 : 6;
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];

/** Dimensions whose values visitors choose. */
const VISITOR_DIMENSIONS = [
  "sub1",
  "sub10",
  "source_id",
  "referrer_host",
  "language",
  "traffic_source",
  "ext_keyword",
  "browser",
];

const Dimensions = z.object({ data: z.array(z.object({ name: z.string() })) });

/** Markup that a text would have become. The page itself has none of these: its own details have a summary. */
const MADE_OF_TEXT = [
  "body script",
  "iframe",
  "object",
  "base",
  "meta[http-equiv]",
  "body style",
  "body link",
  "img",
  "video",
  "math",
  "details:not(:has(> summary))",
  "marquee",
  "[onerror], [onload], [onfocus], [ontoggle], [onbegin]",
  '[href^="javascript:" i], [src^="javascript:" i], [action]',
  '[href^="data:" i]',
].join(", ");

const Seen = z.object({ shown: z.string(), markup: z.array(z.string()) });

/** All text of the page and of its fields, and the markup that a text has become. */
const SEE = `({
  shown: [document.body.textContent, ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value)].join("\\n"),
  markup: [...document.querySelectorAll(${JSON.stringify(MADE_OF_TEXT)})].map(({ outerHTML }) => outerHTML),
})`;

/** Fields with a form that no hostile string has, such as a country of two letters, and those that only a partner has. */
const MAY_REFUSE = new Set([
  ...["partner", "advertiser"].flatMap((role) =>
    ["website", "country"].map((field) => `PATCH /me/profile ${field} as ${role}`),
  ),
  "PATCH /me/profile messenger as advertiser",
  "PATCH /me/profile traffic_sources as advertiser",
]);

describe.skipIf(program === undefined)("strings of strangers", () => {
  let world: HostileWorld;
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    world = await HostileWorld.open(STRINGS);
    const cookies = await signInRoles(world.system);
    await world.fill(cookies);
    browser = await ConsoleBrowser.at(program ?? "", world.system.client.demo, cookies);
  }, 10 * 60_000);
  afterAll(async () => {
    await world.close();
    await browser.close();
  });

  test("go into every field that visitors, partners and advertisers can fill", () => {
    expect([...world.refused].filter((field) => !MAY_REFUSE.has(field))).toEqual([]);
    expect(world.taken.size).toBeGreaterThan(20);
  });

  test.each(ROLES)(
    "never run on any screen of %s, and are shown as text (P42)",
    async (role) => {
      const walk = await Walk.open(browser, role);
      const reports = await reportsFor(world.system.client.demo, role);
      for (const path of [...SCREENS[role], ...reports]) await walk.screen(path);
      // A test whose strings never appear would find nothing.
      const missing = STRINGS.filter(({ word }) => !walk.words.has(word)).map(({ text }) => text);
      figures.cases += walk.cases;
      figures.violations += walk.violations.length;
      expect(walk.violations).toEqual([]);
      expect(missing).toEqual([]);
    },
    MINUTES * 60_000,
  );

  test("were looked for on every screen (P42)", (context) => {
    reportCases(context, figures);
    expect(figures.cases).toBeGreaterThan(STRINGS.length * ROLES.length);
  });
});

/** A case is one string that a screen, a drawer or a table of a chart showed. */
const figures = { cases: 0, violations: 0 };

/** Reports by everything that visitors choose, with the bars of a chart. */
async function reportsFor(demo: Demo, role: Role): Promise<string[]> {
  const headers = { authorization: `Bearer ${demo.keys[role]}` };
  const answer = await fetch(`${demo.base_url}/reports/dimensions`, { headers });
  const known = new Set(Dimensions.parse(await answer.json()).data.map(({ name }) => name));
  const readable = VISITOR_DIMENSIONS.filter((name) => known.has(name));
  // All roles have the same screen, so in CI only admins read each report. The others read the one by sub1 and another that SEED chooses.
  const read =
    IS_FULL || role === "admin"
      ? readable
      : [
          ...readable.slice(0, 1),
          ...chosenBySeed(readable.slice(1), 1, SEED + ROLES.indexOf(role)),
        ];
  const left = readable.filter((name) => !read.includes(name));
  if (left.length > 0)
    process.stderr.write(`P42: ${role}: no reports by ${left.join(", ")} with this SEED\n`);
  return read.map((name) => `/reports?preset=today&group_by=${name}&chart=bars`);
}

/** Looks at the screens of one role, and notes what should not be there. */
class Walk {
  readonly violations: string[] = [];
  readonly words = new Set<string>();
  cases = 0;
  readonly #page: Page;
  readonly #browser: ConsoleBrowser;
  readonly #role: Role;

  private constructor(page: Page, browser: ConsoleBrowser, role: Role) {
    this.#page = page;
    this.#browser = browser;
    this.#role = role;
  }

  static async open(browser: ConsoleBrowser, role: Role): Promise<Walk> {
    const page = await browser.page(role);
    const walk = new Walk(page, browser, role);
    await page.exposeFunction(ALARM, () => walk.violations.push(`ran at ${page.url()}`));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== browser.origin && url.protocol !== "blob:")
        walk.violations.push(`asked ${url.href} at ${page.url()}`);
    });
    page.on("dialog", (dialog) => {
      walk.violations.push(`dialog at ${page.url()}`);
      void dialog.dismiss();
    });
    page.on("popup", (popup) => walk.violations.push(`window ${popup.url()}`));
    return walk;
  }

  /** The screen, its tables of charts, and the records that its list opens. */
  async screen(path: string): Promise<void> {
    const url = this.#browser.base(this.#role) + path;
    await this.#go(url);
    await settled(this.#page);
    await this.#look(path);
    // A pressed button is called "Chart", so the first one is always the next.
    const tables = this.#page.getByRole("button", { name: "Table", exact: true });
    while ((await tables.count()) > 0) await tables.first().click();
    await this.#look(`${path} as tables`);
    // Behind the drawer of an address nothing can be clicked.
    if (path.startsWith("/reports?") || path.includes("?open=")) return;
    const rows = this.#page.locator("tbody .cell-button");
    const count = Math.min(DRAWERS, await rows.count());
    for (let at = 0; at < count; at += 1) {
      await rows.nth(at).click();
      await settled(this.#page);
      await this.#look(`${path}, record ${at}`);
      await this.#page.keyboard.press("Escape");
      await this.#page.locator(".drawer").waitFor({ state: "detached" });
    }
  }

  /** Each load of the page takes a second of processor time. In CI a role loads its first screen, and goes on as the links of the page do. */
  async #go(url: string): Promise<void> {
    if (IS_FULL || !this.#page.url().startsWith(this.#browser.origin)) await this.#page.goto(url);
    else await this.#page.evaluate(`history.pushState(null, "", ${JSON.stringify(url)})`);
  }

  async #look(where: string): Promise<void> {
    const { shown, markup } = Seen.parse(await this.#page.evaluate(SEE));
    for (const { word } of STRINGS) {
      if (!shown.includes(word)) continue;
      this.words.add(word);
      this.cases += 1;
    }
    for (const html of markup) this.violations.push(`${where}: ${html.slice(0, 200)}`);
    for (const fault of this.#browser.faults.splice(0)) this.violations.push(`${where}: ${fault}`);
  }
}

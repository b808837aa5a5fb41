import assert from "node:assert";
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { SEED } from "../../system/seed.ts";
import { findChromium } from "../chromium-program.ts";
import { axeFaults } from "./axe-faults.ts";
import { ConsoleBrowser, type Role, SCREENS, settled } from "./console-browser.ts";

const program = findChromium();
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const THEMES = ["light", "dark"] as const;
const WIDTHS = [320, 768, 1440];
const OPERATOR_SCREENS = ["/system", "/system/workspaces"];
/** Headings in view whose last letters lie under something else. What is behind a drawer is no longer there for anybody. */
const COVERED_HEADINGS = `[...document.querySelectorAll("h1, h2")].filter((heading) => {
  if (heading.closest("[inert], [aria-hidden=true]") !== null) return false;
  const letters = document.createRange();
  letters.selectNodeContents(heading);
  const { right, top, bottom } = letters.getBoundingClientRect();
  const shown = document.elementFromPoint(right - 2, (top + bottom) / 2);
  return shown !== null && !heading.contains(shown);
}).map((heading) => heading.textContent)`;

describe.skipIf(program === undefined)("every screen of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const cases = [
    ...ROLES.flatMap((role) => THEMES.map((theme) => ({ role, theme }))),
    ...THEMES.map((theme) => ({ role: "operator", theme }) as const),
  ];
  // In CI each of them has one theme, and the other one with another seed.
  const isChosen = (index: number): boolean =>
    IS_FULL || ((SEED >> Math.floor(index / THEMES.length)) + index) % THEMES.length === 0;
  const chosen = cases.filter((_, index) => isChosen(index));
  for (const { role, theme } of cases.filter((one) => !chosen.includes(one)))
    process.stderr.write(`screens of ${role} in ${theme}: not with seed ${SEED}\n`);

  test.each(chosen.flatMap(({ role, theme }) => (role === "operator" ? [] : [{ role, theme }])))(
    "of $role in $theme: axe finds nothing, the policy refuses nothing, no page is too wide",
    async ({ role, theme }) => {
      const page = await browser.page(role, { theme });
      for (const screen of SCREENS[role])
        expect(await faultsAt(page, browser.base(role) + screen)).toEqual([]);
      await page.context().close();
    },
    300_000,
  );

  test("of an operator: axe finds nothing, the policy refuses nothing, no page is too wide", async () => {
    const servers = await fetch(`${inject("landingServiceUrl")}servers`);
    const { postgres } = z.object({ postgres: z.string() }).parse(await servers.json());
    const pool = openPool({ url: postgres, applicationName: "test", connectionsMax: 1 });
    const setOperator = async (isOperator: boolean): Promise<void> => {
      await pool.query({
        text: "update person set is_operator = $1 where email = 'admin@demo.example'",
        values: [isOperator],
      });
    };
    await setOperator(true);
    try {
      for (const theme of chosen.flatMap((one) => (one.role === "operator" ? [one.theme] : []))) {
        const page = await browser.page("admin", { theme });
        await page.route("**/api/v1/system", everyPartFaulty);
        // The session is read anew within a second.
        await expect
          .poll(async () => {
            await page.goto(browser.base("admin") + (OPERATOR_SCREENS[0] ?? ""));
            await settled(page);
            return await page.locator("h1").textContent();
          })
          .toBe("System");
        for (const screen of OPERATOR_SCREENS)
          expect(await faultsAt(page, browser.base("admin") + screen)).toEqual([]);
        await page.context().close();
      }
    } finally {
      await setOperator(false);
      await pool.end();
    }
  }, 120_000);
});

/** The real answer, with a long fault in every part: what is well differs from run to run. */
async function everyPartFaulty(route: Route): Promise<void> {
  const response = await route.fetch();
  const body = (await response.text()).replaceAll(
    /"text":"(?<text>[^"]*)","fault":(?:null|"[a-z]+")/g,
    '"text":"$<text>, and nothing was written for 12,345,678 seconds","fault":"degraded"',
  );
  assert.match(body, /and nothing was written/);
  await route.fulfill({ response, body });
}

/** What is wrong with a screen: what axe finds, what it could not load, and for each width what is too wide or covered. */
async function faultsAt(page: Page, address: string): Promise<unknown[]> {
  await page.goto(address);
  await settled(page);
  const headings = await page.locator("h1").count();
  const faults: unknown[] = [
    ...(headings === 1 ? [] : [`${headings} headings of the first level`]),
    ...(await page.locator(".notice.bad").allTextContents()),
    ...(await axeFaults(page)),
  ];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
    if (wide > width) faults.push(`${wide} pixels wide at ${width}`);
    const covered = z.array(z.string()).parse(await page.evaluate(COVERED_HEADINGS));
    faults.push(...covered.map((heading) => `"${heading}" is covered at ${width}`));
  }
  return faults.map((fault) => [address, fault]);
}

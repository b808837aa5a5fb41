import assert from "node:assert";
import type { Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  SCREENS,
  settled,
} from "../../../browser/console/console-browser.ts";
import { screenFaults } from "../../../browser/console/screen-faults.ts";
import { IS_FULL } from "../../../promises/report-cases.ts";
import { SEED } from "../../../system/seed.ts";

const program = findChromium();
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const THEMES = ["light", "dark"] as const;
const WIDTHS = [320, 768, 1440];
const OPERATOR_SCREENS = ["/system", "/system/workspaces"];
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
  // In CI each role is tried in one theme, and in the other theme with another seed.
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
        expect(await screenFaults(page, browser.base(role) + screen, WIDTHS)).toEqual([]);
      await page.context().close();
    },
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
          expect(await screenFaults(page, browser.base("admin") + screen, WIDTHS)).toEqual([]);
        await page.goto(browser.base("admin") + (OPERATOR_SCREENS[0] ?? ""));
        await page.getByText("and nothing was written").first().waitFor();
        // The screen asks again and again.
        await page.unrouteAll({ behavior: "wait" });
        await page.context().close();
      }
    } finally {
      await setOperator(false);
      await pool.end();
    }
  });
});

/** The real answer, with a long fault in every part: what is well differs from run to run. */
async function everyPartFaulty(route: Route): Promise<void> {
  const response = await route.fetch();
  // Until the session is read anew, the person is no operator.
  if (!response.ok()) {
    await route.fulfill({ response });
    return;
  }
  const body = (await response.text()).replaceAll(
    /"text":"(?<text>[^"]*)","fault":(?:null|"[a-z]+")/g,
    '"text":"$<text>, and nothing was written for 12,345,678 seconds","fault":"degraded"',
  );
  assert.match(body, /and nothing was written/);
  await route.fulfill({ response, body });
}

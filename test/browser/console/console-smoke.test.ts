import assert from "node:assert";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chosenBySeed, SEED } from "../../system/seed.ts";
import { findChromium } from "../chromium-program.ts";
import { ConsoleBrowser, type Role, SCREENS } from "./console-browser.ts";
import { screenFaults } from "./screen-faults.ts";

const program = findChromium();
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const WIDTH = 1440;
/** One of so many screens; the deep tests open all, in both themes and three widths. */
const SCREENS_PER_CHOICE = 6;
const theme = SEED % 2 === 0 ? "light" : "dark";

describe.skipIf(program === undefined)("a sixth of the screens of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test.each(ROLES)(
    "of %s: axe finds nothing, the policy refuses nothing, no page is too wide",
    {
      timeout: 120_000,
    },
    async (role) => {
      const page = await browser.page(role, { theme, width: WIDTH });
      const screens = SCREENS[role];
      const chosen = chosenBySeed(screens, Math.ceil(screens.length / SCREENS_PER_CHOICE));
      for (const screen of chosen)
        expect(await screenFaults(page, browser.base(role) + screen, [WIDTH])).toEqual([]);
      await page.context().close();
    },
  );
});

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { findChromium } from "../chromium-program.ts";
import { ConsoleBrowser, type Role, SCREENS, settled } from "./console-browser.ts";

const program = findChromium();
const AXE = readFileSync(projectFile("node_modules", "axe-core", "axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const THEMES = ["light", "dark"] as const;
const WIDTHS = [320, 768, 1440];

const AxeResult = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

describe.skipIf(program === undefined)("every screen of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  const cases = ROLES.flatMap((role) => THEMES.map((theme) => ({ role, theme })));

  test.each(cases)(
    "of $role in $theme: axe finds nothing, the policy refuses nothing, no page is too wide",
    async ({ role, theme }) => {
      const page = await browser.page(role, { theme });
      for (const screen of SCREENS[role]) {
        await page.goto(browser.base(role) + screen);
        await settled(page);
        expect(await page.locator("h1").count(), screen).toBe(1);
        expect(await page.locator(".notice.bad").allTextContents(), screen).toEqual([]);
        // Evaluated and not added as a script, which the policy refuses.
        await page.evaluate(AXE);
        const run = `axe.run({ runOnly: { type: "tag", values: ${JSON.stringify(RULES)} } })`;
        const found = AxeResult.parse(await page.evaluate(run));
        const faults = found.violations.map(({ id, nodes }) => [
          id,
          ...nodes.map(({ html }) => html),
        ]);
        expect(faults, screen).toEqual([]);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          const wide = await page.evaluate("document.documentElement.scrollWidth");
          expect([screen, width, Number(wide) <= width]).toEqual([screen, width, true]);
        }
      }
      await page.context().close();
    },
    300_000,
  );
});

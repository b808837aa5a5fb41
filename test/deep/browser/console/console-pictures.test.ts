import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { type Role, SCREENS, settled } from "../../../browser/console/console-browser.ts";
import { FILLED_MS, FilledDemo } from "./filled-demo.ts";

/*
 * `npm run screens`: a picture of each screen of the filled demo in both themes and three widths in `.build/screens`, as long as the
 * screen is. With SCREENS_BASE, the folder of earlier pictures, also the differences. It is no gate, because fonts differ from machine
 * to machine.
 */

const program = findChromium();
const isWanted = process.env["SCREENS"] === "1" && program !== undefined;
const BASE = process.env["SCREENS_BASE"] ?? "";
const FOLDER = join(".build", "screens");
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const THEMES = ["light", "dark"] as const;
const WIDTHS = [390, 900, 1440] as const;
const HEIGHT = 900;

describe.skipIf(!isWanted)("pictures of the console", () => {
  let demo: FilledDemo;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    demo = await FilledDemo.open(program ?? "");
  }, FILLED_MS);
  afterAll(async () => await demo[Symbol.asyncDispose]());

  const cases = ROLES.flatMap((role) => THEMES.map((theme) => ({ role, theme })));

  test.each(cases)(
    "every screen of $role in $theme has a picture",
    async ({ role, theme }) => {
      const { browser } = demo;
      const page = await browser.page(role, { theme });
      for (const screen of SCREENS[role]) {
        await page.goto(browser.base(role) + screen);
        await settled(page);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          await settled(page);
          const name = `${role}${screen.replaceAll("/", "-")}-${theme}-${width}.png`;
          const picture = await page.screenshot({ path: join(FOLDER, name), fullPage: true });
          expect(picture.length, name).toBeGreaterThan(1_000);
          if (BASE !== "") compare(name, picture);
        }
      }
      await page.context().close();
    },
    600_000,
  );
});

/** Says how many pixels differ from the earlier picture, and writes a picture of them. */
function compare(name: string, picture: Buffer): void {
  const now = PNG.sync.read(picture);
  const before = PNG.sync.read(readFileSync(join(BASE, name)));
  const { width, height } = now;
  expect(before.width, name).toBe(width);
  // The rows of a list, and so the length of its screen, follow the day on which the demo was made.
  if (before.height !== height) {
    process.stdout.write(`${name}: ${before.height} px high before, ${height} now\n`);
    return;
  }
  const difference = new PNG({ width, height });
  const count = pixelmatch(before.data, now.data, difference.data, width, height);
  if (count === 0) return;
  writeFileSync(join(FOLDER, `difference-${name}`), PNG.sync.write(difference));
  process.stdout.write(`${name}: ${count} pixels differ\n`);
}

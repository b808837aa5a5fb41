import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  SCREENS,
  settled,
} from "../../../browser/console/console-browser.ts";

/*
 * `npm run screens`: a picture of each screen in both themes and three widths in `.build/screens`. With SCREENS_BASE, the folder of
 * earlier pictures, also the differences. It is no gate, because fonts differ from machine to machine.
 */

const program = findChromium();
const isWanted = process.env["SCREENS"] === "1" && program !== undefined;
const BASE = process.env["SCREENS_BASE"] ?? "";
const FOLDER = join(".build", "screens");
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];
const THEMES = ["light", "dark"] as const;
const WIDTHS = [320, 768, 1440] as const;
const HEIGHT = 900;

describe.skipIf(!isWanted)("pictures of the console", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterAll(() => browser.close());

  const cases = ROLES.flatMap((role) => THEMES.map((theme) => ({ role, theme })));

  test.each(cases)(
    "every screen of $role in $theme has a picture",
    async ({ role, theme }) => {
      const page = await browser.page(role, { theme });
      for (const screen of SCREENS[role]) {
        await page.goto(browser.base(role) + screen);
        await settled(page);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          await settled(page);
          const name = `${role}${screen.replaceAll("/", "-")}-${theme}-${width}.png`;
          const picture = await page.screenshot({ path: join(FOLDER, name) });
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
  expect([before.width, before.height], name).toEqual([width, height]);
  const difference = new PNG({ width, height });
  const count = pixelmatch(before.data, now.data, difference.data, width, height);
  if (count === 0) return;
  writeFileSync(join(FOLDER, `difference-${name}`), PNG.sync.write(difference));
  process.stdout.write(`${name}: ${count} pixels differ\n`);
}

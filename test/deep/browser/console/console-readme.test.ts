import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../../browser/chromium-program.ts";
import { type Role, settled } from "../../../browser/console/console-browser.ts";
import { FILLED_MS, FilledDemo } from "./filled-demo.ts";

/*
 * Part of `npm run screens`: the pictures of the README. A picture is older than its screen if a source of the screen has changed since it
 * was taken; then the command fails. `SCREENS=readme npm run screens` takes them anew.
 */

const wanted = process.env["SCREENS"] ?? "";
const program = findChromium();
const BYTES_MAX = 150 * 1024;
const VIEW = { width: 1200, height: 750 };
const WEB = "api/console/web";
const PICTURES = "api/console/pictures";
/** For each picture, the hash of the sources of its screen when it was taken. */
const TAKEN = join(PICTURES, "taken.json");
const SHARED = ["look", "parts", "plots", "shell"];

type Picture = {
  readonly name: string;
  readonly role: Role;
  readonly path: string;
  /** Folders of the screen. */
  readonly folders: readonly string[];
};

const SHOWN: readonly Picture[] = [
  {
    name: "dashboard",
    role: "admin",
    path: "/?preset=last14",
    folders: ["screens/dashboard", "screens/charts"],
  },
  {
    name: "report",
    role: "admin",
    path: "/reports?preset=last14&group_by=country&filters=offer:in:1&chart=none",
    folders: ["screens/reports"],
  },
  { name: "offer", role: "partner", path: "/offers/1", folders: ["screens/own-offers"] },
];

/** A hash over the names and contents of the sources in these folders of the console. */
function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of [...folders, ...SHARED]) {
    const files = readdirSync(join(WEB, folder)).toSorted();
    for (const file of files.filter((name) => /(?<!\.test)\.(tsx?|css)$/.test(name))) {
      hash.update(`${folder}/${file}\n`).update(readFileSync(join(WEB, folder, file)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

describe.skipIf(wanted === "" || program === undefined)("pictures of the README", () => {
  let demo: FilledDemo;
  beforeAll(async () => {
    demo = await FilledDemo.open(program ?? "");
  }, FILLED_MS);
  afterAll(async () => await demo[Symbol.asyncDispose]());

  const now = Object.fromEntries(SHOWN.map(({ name, folders }) => [name, hashOf(folders)]));

  test.each(SHOWN)("the picture $name can be taken, in at most 150 KB", async (picture) => {
    const { browser } = demo;
    const page = await browser.page(picture.role);
    await page.setViewportSize(VIEW);
    await page.goto(browser.base(picture.role) + picture.path);
    await settled(page);
    const bytes = await page.screenshot();
    expect(bytes.length, picture.name).toBeLessThanOrEqual(BYTES_MAX);
    const folder = wanted === "readme" ? PICTURES : join(".build", "screens");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${picture.name}.png`), bytes);
    await page.context().close();
  });

  test("no picture of the README is older than its screen", () => {
    if (wanted === "readme") writeFileSync(TAKEN, `${JSON.stringify(now, undefined, 2)}\n`);
    const taken = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(TAKEN, "utf8")));
    expect(taken, "take them anew: SCREENS=readme npm run screens").toEqual(now);
  });
});

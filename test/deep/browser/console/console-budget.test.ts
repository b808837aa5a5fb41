import assert from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { projectFile } from "../../../../schemas/host/project-root.ts";
import { findChromium } from "../../../browser/chromium-program.ts";
import {
  ConsoleBrowser,
  type Role,
  readAnswers,
  SCREENS,
  settled,
} from "../../../browser/console/console-browser.ts";

const program = findChromium();
const DIST = projectFile(".build", "console", "dist");
const KILOBYTE = 1_000;
/** Gzip, of everything that the dashboard of a role loads before it shows figures. */
const FIRST_LOAD_KB: Readonly<Record<Role, number>> = {
  admin: 250,
  analyst: 250,
  partner: 220,
  advertiser: 220,
};
const LATER_CHUNK_KB = 60;
/** Files and API calls until the dashboard shows everything. */
const REQUESTS_MAX = 30;

const Chunk = z.object({
  file: z.string(),
  imports: z.array(z.string()).optional(),
  dynamicImports: z.array(z.string()).optional(),
  css: z.array(z.string()).optional(),
});
type Manifest = Readonly<Record<string, z.infer<typeof Chunk>>>;

function readManifest(): Manifest {
  const text = readFileSync(join(DIST, ".vite", "manifest.json"), "utf8");
  return z.record(z.string(), Chunk).parse(JSON.parse(text));
}

/** The files of some entries with everything that they import at once. */
function filesOf(manifest: Manifest, entries: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const files = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const chunk = manifest[name];
    assert(chunk !== undefined, `the manifest has no ${name}`);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  for (const entry of entries) visit(entry);
  return files;
}

function gzipKb(files: Iterable<string>): number {
  let bytes = 0;
  for (const file of files) bytes += gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length;
  return bytes / KILOBYTE;
}

const ROOTS: Readonly<Record<Role, string>> = {
  admin: "staff.tsx",
  analyst: "staff.tsx",
  partner: "partner.tsx",
  advertiser: "advertiser.tsx",
};
/** A partner may invite people, and the body of an invitation names `advertiser_id`, so a file has this word. No answer has it. */
const wordsFor = (url: string): readonly string[] => [
  "revenue",
  "destination_url",
  "bot_clicks",
  ...(url.includes("/assets/") ? [] : ["advertiser_id"]),
];
const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];

test.each(ROLES)("the first load of the dashboard for %s stays within its budget", (role) => {
  const kilobytes = gzipKb(filesOf(readManifest(), ["index.html", ROOTS[role]]));
  process.stdout.write(`first load, ${role}: ${kilobytes.toFixed(1)} KB gzip\n`);
  expect(kilobytes).toBeLessThanOrEqual(FIRST_LOAD_KB[role]);
  expect(kilobytes).toBeGreaterThan(50);
});

test("no later chunk is larger than its budget", () => {
  const manifest = readManifest();
  const first = filesOf(manifest, ["index.html", ...new Set(Object.values(ROOTS))]);
  const large: string[] = [];
  for (const { file } of Object.values(manifest)) {
    const kilobytes = first.has(file) ? 0 : gzipKb([file]);
    if (kilobytes > LATER_CHUNK_KB) large.push(`${file}: ${kilobytes.toFixed(1)} KB`);
    if (file.includes("world-map")) process.stdout.write(`map: ${kilobytes.toFixed(1)} KB gzip\n`);
  }
  expect(large).toEqual([]);
});

describe.skipIf(program === undefined)("what a browser loads", () => {
  let browser: ConsoleBrowser;
  beforeAll(async () => {
    browser = await ConsoleBrowser.open(program ?? "");
  });
  afterEach(() => assert.deepEqual(browser.faults.splice(0), []));
  afterAll(() => browser.close());

  test.each(ROLES)(
    "a cold dashboard for %s makes few requests, and only the staff loads its files",
    async (role) => {
      const page = await browser.page(role);
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(`${browser.base(role)}/`);
      await settled(page);
      const calls = asked.filter((url) => url.includes("/api/")).length;
      process.stdout.write(`requests, ${role}: ${asked.length}, of them ${calls} to the API\n`);
      expect([asked, asked.length <= REQUESTS_MAX]).toEqual([asked, true]);
      const isOfStaff = asked.some((url) => url.includes("/assets/staff"));
      expect(isOfStaff).toBe(role === "admin" || role === "analyst");
    },
  );

  test("a partner's browser gets none of the words of staff: page, files and answers (journey 19)", async () => {
    const page = await browser.page("partner");
    const texts: { readonly url: string; readonly text: string }[] = [];
    const read = readAnswers(page, () => true);
    for (const path of SCREENS.partner) {
      await page.goto(browser.base("partner") + path);
      await settled(page);
      texts.push({ url: page.url(), text: await page.content() }, ...(await read()));
    }
    expect(texts.length).toBeGreaterThan(SCREENS.partner.length * 2);
    const found = texts.flatMap(({ url, text }) =>
      wordsFor(url)
        .filter((word) => text.includes(word))
        .map((word) => `${word} in ${new URL(url).pathname}`),
    );
    expect([...new Set(found)]).toEqual([]);
  });

  test("the address of a screen of staff is not there for a partner (journey 19)", async () => {
    const page = await browser.page("partner");
    const shown: string[] = [];
    for (const path of ["/advertisers", "/workspace", "/inbox", "/integrations/inbound"]) {
      await page.goto(browser.base("partner") + path);
      await settled(page);
      shown.push(...(await page.locator("h1").allTextContents()));
    }
    await page.goto(`${browser.base("admin")}/advertisers`);
    await settled(page);
    shown.push(...(await page.locator("h1").allTextContents()));
    expect(shown).toEqual(
      Array.from({ length: 5 }, () => "Page not found, or you don't have access"),
    );
  });
});

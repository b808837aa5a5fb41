import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Response,
} from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { findChromium } from "../../browser/chromium-program.ts";
import { LandingWorld } from "../../browser/landing-world.ts";
import { OFFER, PARTNER, SHOP, TRACK, TRACK_HOST } from "../../browser/shop-seed.ts";
import {
  GUIDE_PAGES,
  type GuideExample,
  readExamples,
  withoutIds,
} from "../../system/guide-examples.ts";
import { HANG_MS } from "../../system/until.ts";
import { SecureDoor } from "./secure-door.ts";

const SECURE = `https://${TRACK_HOST}`;
const PIXEL = /\/px(?:\.gif|\.html)?\?/;

const program = findChromium();

type Visitor = {
  readonly page: Page;
  readonly clickId: string;
  readonly close: () => Promise<void>;
};
type CookieOptions = Parameters<typeof chromium.launchPersistentContext>[1];

describe.skipIf(program === undefined)("the guide's pages in a browser", () => {
  let world: LandingWorld;
  let door: SecureDoor;
  let browser: Browser;
  let launch: CookieOptions;
  let runs = 0;

  beforeAll(async () => {
    world = await LandingWorld.open(program ?? "");
    door = await SecureDoor.open(TRACK_HOST, world.client.demo.tracking_url);
    const rule = `MAP ${TRACK_HOST}:443 127.0.0.1:${door.port}`;
    const args = (world.launch.args ?? []).map((argument) =>
      argument.replace("--host-resolver-rules=", `--host-resolver-rules=${rule}, `),
    );
    launch = { ...world.launch, args, ignoreHTTPSErrors: true };
    browser = await chromium.launch({ ...world.launch, args });
    world.pages.put("/landing", "<title>Landing</title>");
  });
  afterAll(async () => {
    await browser.close();
    await door.close();
    await world.close();
  });

  /** A new visitor who has clicked the partner's link. */
  const visitor = async (track: string, cookies?: "allowed"): Promise<Visitor> => {
    const { context, close } =
      cookies === "allowed"
        ? await contextWithCookies(launch)
        : ownContext(await browser.newContext({ ignoreHTTPSErrors: true }));
    const page = await context.newPage();
    page.setDefaultTimeout(HANG_MS);
    await page.goto(`${track}/r/${OFFER}/${PARTNER}`);
    const clickId = new URL(page.url()).searchParams.get("click_id") ?? "";
    return { page, clickId, close };
  };

  /** Opens a page of the shop with this HTML. Returns the answer to its pixel if there is one, and what went wrong on the page. */
  const open = async (
    { page, clickId }: Visitor,
    html: string,
  ): Promise<{ pixel: Response | undefined; faults: string[] }> => {
    runs += 1;
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => {
      // The browser asks every site for its icon.
      if (message.location().url.endsWith("/favicon.ico")) return;
      if (["error", "warning"].includes(message.type())) faults.push(message.text());
    });
    const filled = html.replaceAll("CLICK_ID", clickId).replaceAll("ORDER_ID", `order-${runs}`);
    world.pages.put(`/guide-${runs}`, filled);
    const answered = /\/px\b|Tracker\.conversion|"conversion"/.test(filled)
      ? page.waitForResponse((response) => PIXEL.test(response.url()))
      : Promise.resolve(undefined);
    const [pixel] = await Promise.all([answered, page.goto(`${SHOP}/guide-${runs}`)]);
    if (filled.includes("/sdk.js")) await page.waitForFunction("Tracker.clickId() !== null");
    return { pixel, faults };
  };

  test.each(GUIDE_PAGES)("the HTML of the guide's page %s works on a shop's page", async (name) => {
    const { origin } = new URL(world.client.demo.base_url);
    const examples = await readExamples(origin, name);
    for (const [index, example] of examples.entries()) {
      const isPage = example.language === "html" && !example.marks.includes("result");
      if (!isPage && example.language !== "js") continue;
      const someone = await visitor(
        SECURE,
        example.marks.includes("https") ? "allowed" : undefined,
      );
      expect(someone.clickId).toMatch(/^[0-9a-f]{32}$/);
      const { pixel, faults } = await open(someone, pageOf(example));
      expect([example.text, faults]).toEqual([example.text, []]);
      await expectShown(someone.page, pixel, examples[index + 1]);
      await someone.close();
    }
  });

  const pageOf = ({ language, text }: GuideExample): string => {
    const html = text
      .replaceAll(world.client.demo.tracking_url, SECURE)
      .replaceAll("https://localhost:8443", SECURE);
    if (language === "html") return html;
    return `<script src="${SECURE}/sdk.js" data-offer="${OFFER}"></script><script>${html}</script>`;
  };

  test("without https the cookie of the click does not arrive with a pixel on another site", async () => {
    const someone = await visitor(TRACK, "allowed");
    const { pixel } = await open(someone, `<img src="${TRACK}/px?txid=ORDER_ID">`);
    expect(await pixel?.headerValue("x-tracker-conversion")).toMatch(/^error: click_id required/);
    await someone.close();
  });
});

/** A browser of its own that accepts cookies of other sites. Debian's Chromium does not by default, and private windows never do. */
async function contextWithCookies(
  options: CookieOptions,
): Promise<{ context: BrowserContext; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-profile-"));
  await mkdir(join(folder, "Default"));
  const preferences = { profile: { block_third_party_cookies: false, cookie_controls_mode: 0 } };
  await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(folder, options);
  const close = async (): Promise<void> => {
    await context.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { context, close };
}

function ownContext(context: BrowserContext): {
  context: BrowserContext;
  close: () => Promise<void>;
} {
  return { context, close: () => context.close() };
}

/** Compares with the block that the page shows below the HTML: headers of the pixel's answer, or what became of its links. */
async function expectShown(
  page: Page,
  pixel: Response | undefined,
  shown: GuideExample | undefined,
): Promise<void> {
  const isResult = shown?.marks.includes("result") === true;
  const lines = isResult || shown?.language === "http" ? shown.text.trim().split("\n") : [];
  const seen = async (): Promise<string[]> =>
    isResult ? await linksOf(page) : await Promise.all(lines.map((line) => headerOf(pixel, line)));
  await expect.poll(async () => (await seen()).map(withoutIds)).toEqual(lines.map(withoutIds));
}

async function linksOf(page: Page): Promise<string[]> {
  const outer = "[...document.links].map(({ outerHTML }) => outerHTML)";
  return z.array(z.string()).parse(await page.evaluate(outer));
}

/** The header of the answer that this line names, as a line. */
async function headerOf(answer: Response | undefined, line: string): Promise<string> {
  const name = line.slice(0, line.indexOf(":"));
  return `${name}: ${(await answer?.headerValue(name)) ?? "none"}`;
}

import assert from "node:assert";
import { type Browser, chromium, type Page, type Request, type Response } from "playwright-core";
import { inject } from "vitest";
import { z } from "zod";
import { Demo } from "../../../deploy/local/demo-file.ts";
import { HANG_MS } from "../../system/until.ts";
import { Cookies } from "./sign-in-roles.ts";
import { tellOnFailure } from "./tell-page.ts";

export type Role = "admin" | "analyst" | "partner" | "advertiser";

/** Addresses of the screens of each role, below the address of its membership. */
export const SCREENS: Readonly<Record<Role, readonly string[]>> = {
  admin: [
    "/",
    "/reports",
    "/inbox",
    "/conversions",
    "/clicks",
    "/offers",
    "/offers/new",
    "/offers/new?step=rules",
    "/offers/1",
    "/offers/1/terms",
    "/offers/1/caps",
    "/offers/1/targeting",
    "/offers/1/partners",
    "/offers/1/creatives",
    "/offers/1/postbacks",
    "/offers/1/history",
    "/partners",
    "/partners/new",
    "/partners/1",
    "/partners/1/offers",
    "/partners/1/links",
    "/partners/1/conversions",
    "/partners/1/people",
    "/partners/1/payment",
    "/advertisers",
    "/advertisers/new",
    "/advertisers/1",
    "/advertisers/1/offers",
    "/advertisers/1/integration",
    "/advertisers/1/tax",
    "/money/invoices",
    "/money/invoices?of=payments",
    "/links",
    "/integrations",
    "/integrations/webhooks",
    "/integrations/inbound",
    "/workspace",
    "/workspace/domains",
    "/workspace/people",
    "/workspace/keys",
    "/workspace/audit",
    "/you",
    "/money/confirm",
    "/rules",
    "/rules?of=traffic-controls",
    "/rules?of=conversion-rules",
    "/rules?of=offer-groups",
    "/rules?of=coupons",
    "/rules?of=templates",
    "/rules?of=own-terms",
    "/rules?of=link-keys",
    "/rules?of=blocklist",
    "/costs",
    "/costs?of=rates",
    "/costs?of=deals",
    "/costs?of=feeds",
    "/money",
    "/money?of=advertiser",
    "/money?of=adjustments",
    "/money/settings",
    "/money/statements",
    "/money/payouts",
  ],
  analyst: [
    "/",
    "/reports",
    "/conversions",
    "/offers",
    "/partners",
    "/rules?of=blocklist",
    "/money",
  ],
  partner: [
    "/",
    "/reports",
    "/offers",
    "/offers/1",
    "/links",
    "/conversions",
    "/clicks",
    "/earnings",
    "/statements",
    "/payouts",
    "/postbacks",
    "/account",
    "/people",
    "/keys",
  ],
  advertiser: [
    "/",
    "/reports",
    "/conversions",
    "/invoices",
    "/integration",
    "/inbound",
    "/account",
    "/people",
    "/keys",
  ],
};

const QUIET_MS = 250;
const POLL_MS = 20;

/** A Chromium in which people of the demo workspace are signed in. */
export class ConsoleBrowser {
  readonly demo: Demo;
  readonly origin: string;
  /** Errors of the console, which include violations of the policy, and exceptions. */
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #cookies: Cookies;

  private constructor(browser: Browser, demo: Demo, cookies: Cookies) {
    this.#browser = browser;
    this.#cookies = cookies;
    this.demo = demo;
    this.origin = new URL(demo.base_url).origin;
  }

  static async open(program: string): Promise<ConsoleBrowser> {
    const door = inject("landingServiceUrl");
    const demo = Demo.parse(await (await fetch(door)).json());
    const cookies = Cookies.parse(await (await fetch(`${door}people`)).json());
    return await ConsoleBrowser.at(program, demo, cookies);
  }

  /** For a service that the test started itself. Without cookies nobody has signed in. */
  static async at(program: string, demo: Demo, cookies: Cookies = {}): Promise<ConsoleBrowser> {
    const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    return new ConsoleBrowser(
      await chromium.launch({ executablePath: program, args }),
      demo,
      cookies,
    );
  }

  /** A page of its own context. Without a role nobody is signed in. */
  async page(
    role?: Role,
    options: {
      readonly width?: number;
      readonly theme?: "light" | "dark";
    } = {},
  ): Promise<Page> {
    const { width = 1440, theme = "light" } = options;
    const context = await this.#browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: theme,
      locale: "en-US",
    });
    if (role !== undefined) {
      const cookie = this.#cookies[role];
      assert(cookie !== undefined, `the demo has a person of the role ${role}`);
      await context.addCookies([
        {
          ...cookie,
          domain: new URL(this.origin).hostname,
          path: "/api/v1",
          httpOnly: true,
          sameSite: "Strict",
        },
      ]);
    }
    const page = await context.newPage();
    // An answer may still be on its way through a route of the test when the page is closed, and is then taken from the route.
    const close = context.close.bind(context);
    context.close = async (why) => {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await close(why);
    };
    page.setDefaultTimeout(HANG_MS);
    followRequests(page);
    tellOnFailure(page, `page of ${role ?? "nobody"}`);
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => {
      // Refusals that a screen shows are logged by Chromium, too.
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
        this.faults.push(message.text());
    });
    return page;
  }

  /** Drops faults that the test has caused. Any other fails it as before. */
  forgive(caused: RegExp): void {
    this.faults.splice(0, Infinity, ...this.faults.filter((fault) => !caused.test(fault)));
  }

  /** Fills October 2026 of the demo workspace. Returns its number of clicks. */
  async filled(): Promise<number> {
    const answer = await fetch(`${inject("landingServiceUrl")}filled`);
    return z.int().parse(await answer.json());
  }

  /** The address below which the role's screens are. */
  base(role: Role): string {
    const workspace = `${this.origin}/console/w/demo`;
    if (role === "partner") return `${workspace}/partner/DEMOANNA`;
    return role === "advertiser" ? `${workspace}/advertiser/1` : workspace;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

type AnswerText = { readonly url: string; readonly text: string };

/**
 * Reads the texts of a page's answers from here on. Returns a function for those that came since the last call. It must be called before the page
 * is left, because the browser forgets the answers of a page that it has left.
 */
export function readAnswers(
  page: Page,
  isWanted: (answer: Response) => boolean,
): () => Promise<readonly AnswerText[]> {
  const reading: Promise<AnswerText>[] = [];
  page.on("response", (answer) => {
    if (isWanted(answer)) reading.push(textOf(answer));
  });
  return async () => await Promise.all(reading.splice(0));
}

async function textOf(answer: Response): Promise<AnswerText> {
  return { url: answer.url(), text: answer.status() === 200 ? await answer.text() : "" };
}

type Network = { readonly open: Set<Request>; lastMs: number };

/** What each page asks for and has no answer yet, and when it last began or ended. */
const networks = new WeakMap<Page, Network>();

function followRequests(page: Page): void {
  const network: Network = { open: new Set(), lastMs: performance.now() };
  networks.set(page, network);
  const note = (change: (request: Request) => unknown) => (request: Request) => {
    change(request);
    network.lastMs = performance.now();
  };
  page.on(
    "request",
    note((request) => network.open.add(request)),
  );
  page.on(
    "requestfinished",
    note((request) => network.open.delete(request)),
  );
  page.on(
    "requestfailed",
    note((request) => network.open.delete(request)),
  );
}

/** Two frames are drawn, which also tells observers of sizes, and then what they have asked for is done. */
const AT_REST = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`;

/**
 * Waits until a page has done all that input, answers and a new size have asked of it, which takes a slow browser longer than any fixed time.
 * Returns false if the page was left meanwhile.
 */
export async function atRest(page: Page): Promise<boolean> {
  try {
    await page.evaluate(AT_REST);
    return true;
  } catch {
    // A navigation took the document away. What else is wrong fails the caller's next step on the page.
    return false;
  }
}

/**
 * Waits until a screen is there, nothing is loaded any more and nothing older is shown meanwhile. Half the silence that Playwright's
 * own wait takes is enough, because a screen that still waits for something says so.
 */
export async function settled(page: Page): Promise<void> {
  const network = networks.get(page);
  assert(network !== undefined, "the page was opened by this class");
  const beganMs = performance.now();
  for (;;) {
    assert(performance.now() < beganMs + HANG_MS, `${page.url()} still loads`);
    await page.waitForLoadState("load");
    // What was done just before the call may not be shown yet, nor have sent its request.
    if (!(await atRest(page))) continue;
    await page.locator("h1").first().waitFor({ state: "attached" });
    for (const busy of [".skeleton", ".is-updating"])
      await page.locator(busy).first().waitFor({ state: "detached" });
    const quietMs = performance.now() - Math.max(network.lastMs, beganMs);
    if (network.open.size === 0 && quietMs >= QUIET_MS) return;
    await page.waitForTimeout(network.open.size > 0 ? POLL_MS : QUIET_MS - quietMs);
  }
}

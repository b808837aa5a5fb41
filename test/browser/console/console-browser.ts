import assert from "node:assert";
import { type Browser, chromium, type Page } from "playwright-core";
import { inject } from "vitest";
import { Demo } from "../../../deploy/local/demo-file.ts";
import { Cookies } from "./sign-in-roles.ts";

export type Role = "admin" | "analyst" | "partner" | "advertiser";

/** Addresses of the screens of each role, below that of its membership. */
export const SCREENS: Readonly<Record<Role, readonly string[]>> = {
  admin: [
    "/",
    "/reports",
    "/inbox",
    "/conversions",
    "/clicks",
    "/offers",
    "/partners",
    "/advertisers",
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
  ],
  analyst: ["/", "/reports", "/conversions", "/offers", "/partners"],
  partner: [
    "/",
    "/reports",
    "/offers",
    "/links",
    "/conversions",
    "/clicks",
    "/postbacks",
    "/account",
    "/people",
    "/keys",
  ],
  advertiser: [
    "/",
    "/reports",
    "/conversions",
    "/events",
    "/inbound",
    "/account",
    "/people",
    "/keys",
  ],
};

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
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => {
      // Refusals that a screen shows are logged by Chromium, too.
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
        this.faults.push(message.text());
    });
    return page;
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

/** Waits until nothing is loaded any more. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

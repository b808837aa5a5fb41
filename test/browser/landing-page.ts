import type { Page, Request } from "playwright-core";
import { z } from "zod";
import { until } from "../system/until.ts";

const ANSWER_TIMEOUT_MS = 10_000;

export type OpenOptions = {
  /** Of the script tag: `data-offer="…"`. */
  readonly attributes?: string;
  /** HTML in front of the script, and in the body behind it. */
  readonly before?: string;
  readonly body?: string;
  /** How often the script tag is on the page. */
  readonly copies?: number;
  /** Origin that the script is loaded from. */
  readonly track?: string;
  /** Of the page; the shop's own by default. */
  readonly origin?: string;
  readonly path?: string;
  /** With its question mark. */
  readonly query?: string;
  readonly referer?: string;
  /** The URL to go to instead of the page's: a tracking link that leads there. */
  readonly through?: (pageUrl: string) => string;
  /** Before the page is opened: faults, a clock. */
  readonly prepare?: (page: Page) => Promise<unknown>;
};

/** What the script asked of `POST /lp`. */
const LandingBody = z.record(z.string(), z.unknown());

/** A page with the script, and what the script did on it. */
export class LandingPage {
  readonly page: Page;
  /** Bodies of all calls of /lp. */
  readonly landings: Record<string, unknown>[] = [];
  /** Parameters of all requests of /px, in their order. */
  readonly pixels: (readonly [name: string, value: string])[][] = [];
  /** Everything on the console that is a warning. */
  readonly warnings: string[] = [];

  /** Takes over the tab: what an earlier page in it was told is not told here. */
  constructor(page: Page, errors: string[]) {
    this.page = page;
    page.removeAllListeners("pageerror");
    page.removeAllListeners("console");
    page.removeAllListeners("request");
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "warning") this.warnings.push(message.text());
    });
    page.on("request", (request) => this.#note(request));
  }

  #note(request: Request): void {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/px") this.pixels.push([...searchParams]);
    if (pathname === "/lp" && request.method() === "POST")
      this.landings.push(LandingBody.parse(JSON.parse(request.postData() ?? "")));
  }

  /** The id that page code gets, once the script knows it or knows that there is none. */
  async clickId(): Promise<string | null> {
    const answer: unknown = await this.page.evaluate(
      "new Promise(function (done) { Tracker.push(function (id) { done([id, Tracker.clickId()]); }); })",
    );
    const [pushed, asked] = z.tuple([z.string().nullable(), z.string().nullable()]).parse(answer);
    if (pushed !== asked) throw new Error(`pushed ${String(pushed)}, asked ${String(asked)}`);
    return asked;
  }

  /** The id of a visitor who must have one. */
  async knownClickId(): Promise<string> {
    return z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .parse(await this.clickId());
  }

  /** Runs a script in the page; what it answers is not read. */
  async run(script: string): Promise<void> {
    await this.page.evaluate(`void (function () { ${script} })()`);
  }

  async lastError(): Promise<string | null> {
    return z
      .string()
      .nullable()
      .parse(await this.page.evaluate("Tracker.error()"));
  }

  /** Calls `Tracker.conversion`; answers the parameters of the pixel and what the service said of it. */
  async convert(
    params: string,
  ): Promise<{ sent: Record<string, string>; pairs: number; outcome: string }> {
    const answered = this.page.waitForResponse((response) => /\/px\?/.test(response.url()), {
      timeout: ANSWER_TIMEOUT_MS,
    });
    await this.page.evaluate(`Tracker.conversion(${params})`);
    const response = await answered;
    const { searchParams } = new URL(response.url());
    return {
      sent: Object.fromEntries(searchParams),
      pairs: searchParams.size,
      outcome: (await response.headerValue("x-tracker-conversion")) ?? "",
    };
  }

  /** The attribute as it stands, not as the browser resolves it. */
  async href(selector: string): Promise<string | null> {
    return await this.page.locator(selector).getAttribute("href");
  }

  async untilHref(selector: string, href: string): Promise<void> {
    await until(`${selector} leads to ${href}`, async () => (await this.href(selector)) === href, {
      timeoutMs: ANSWER_TIMEOUT_MS,
      pollMs: 20,
    });
  }

  async stored(name: string): Promise<string | null> {
    return z
      .string()
      .nullable()
      .parse(await this.page.evaluate(`localStorage.getItem(${JSON.stringify(name)})`));
  }

  /** Cookies of the shop, without those that the tracking domain set for itself. */
  async cookies(): Promise<{ name: string; value: string; domain: string; expires: number }[]> {
    const all = await this.page.context().cookies(this.page.url());
    return all.map(({ name, value, domain, expires }) => ({ name, value, domain, expires }));
  }
}

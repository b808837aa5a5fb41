import type { Page, Request } from "playwright-core";
import { z } from "zod";
import { HANG_MS, until } from "../system/until.ts";

export type OpenOptions = {
  /** Attributes of the script tag: `data-offer="…"`. */
  readonly attributes?: string;
  /** Query of the script's URL, with its question mark. */
  readonly scriptQuery?: string;
  /** HTML before the script. */
  readonly before?: string;
  /** HTML in the body, after the script. */
  readonly body?: string;
  /** How often the script tag is on the page. */
  readonly copies?: number;
  /** Origin that the script is loaded from. */
  readonly track?: string;
  /** Origin of the page; the shop's by default. */
  readonly origin?: string;
  readonly path?: string;
  /** Query of the page, with its question mark. */
  readonly query?: string;
  readonly referer?: string;
  /** Returns the URL to open instead of the page's: a tracking link that leads to the page. */
  readonly through?: (pageUrl: string) => string;
  /** Runs before the page opens: sets up faults or a clock. */
  readonly prepare?: (page: Page) => Promise<unknown>;
};

/** A body that the script sent to `POST /lp`. */
const LandingBody = z.record(z.string(), z.unknown());

/** A page with the script, and a record of what the script did on it. */
export class LandingPage {
  readonly page: Page;
  /** Bodies of all calls of /lp. */
  readonly landings: Record<string, unknown>[] = [];
  /** Parameters of all requests of /px, in order. */
  readonly pixels: (readonly [name: string, value: string])[][] = [];
  /** All warnings on the console. */
  readonly warnings: string[] = [];

  /** Takes over the tab: removes the listeners of an earlier page, so that it records nothing from here on. */
  constructor(page: Page, errors: string[]) {
    this.page = page;
    page.setDefaultTimeout(HANG_MS);
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

  /** Waits for the answer of the script: the ID of the click, or null if there is none. */
  async clickId(): Promise<string | null> {
    const answer: unknown = await this.page.evaluate(
      "new Promise(function (done) { Tracker.push(function (id) { done([id, Tracker.clickId()]); }); })",
    );
    const [pushed, read] = z.tuple([z.string().nullable(), z.string().nullable()]).parse(answer);
    if (pushed !== read) throw new Error(`pushed ${String(pushed)}, read ${String(read)}`);
    return read;
  }

  /** The id of a visitor who must have one. */
  async knownClickId(): Promise<string> {
    return z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .parse(await this.clickId());
  }

  /** Runs a script in the page and ignores its result. */
  async run(script: string): Promise<void> {
    await this.page.evaluate(`void (function () { ${script} })()`);
  }

  async lastError(): Promise<string | null> {
    return z
      .string()
      .nullable()
      .parse(await this.page.evaluate("Tracker.error()"));
  }

  /** Calls `Tracker.conversion`. Returns the parameters of the pixel and the outcome that the service answered. */
  async convert(
    params: string,
  ): Promise<{ sent: Record<string, string>; pairs: number; outcome: string }> {
    const answered = this.page.waitForResponse((response) => /\/px\?/.test(response.url()));
    await this.page.evaluate(`Tracker.conversion(${params})`);
    const response = await answered;
    const { searchParams } = new URL(response.url());
    return {
      sent: Object.fromEntries(searchParams),
      pairs: searchParams.size,
      outcome: (await response.headerValue("x-tracker-conversion")) ?? "",
    };
  }

  /** The attribute as written, not as the browser resolves it. */
  async href(selector: string): Promise<string | null> {
    return await this.page.locator(selector).getAttribute("href");
  }

  async untilHref(selector: string, href: string): Promise<void> {
    await until(`${selector} leads to ${href}`, async () => (await this.href(selector)) === href, {
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

import assert from "node:assert";
import { type Browser, chromium, type LaunchOptions, type Page } from "playwright-core";
import { inject } from "vitest";
import { z } from "zod";
import { Demo } from "../../deploy/local/demo-file.ts";
import { ServiceClient } from "../system/service.ts";
import { until } from "../system/until.ts";
import { LandingPage, type OpenOptions } from "./landing-page.ts";
import { PageServer } from "./page-server.ts";
import { OFFER, PARTNER, PLAIN_HOST, SHOP, TRACK, TRACK_HOST } from "./shop-seed.ts";

const ClickDetail = z.object({
  data: z.object({
    click: z.looseObject({ click_id: z.string() }),
    affiliate: z.object({ label: z.string() }),
  }),
});
const Conversions = z.object({ data: z.array(z.looseObject({ id: z.string() })) });

/**
 * The running service, a shop of its demo workspace on another site, and a browser. All host names resolve to this machine, so that
 * no request leaves it, and the browser separates the cookies of shop and tracking domain as it does on the internet.
 */
export class LandingWorld {
  readonly client: ServiceClient;
  readonly pages: PageServer;
  /** Options of the browser, so that a test can launch another one. */
  readonly launch: LaunchOptions;
  /** Exceptions that reached any page. */
  readonly pageErrors: string[] = [];
  readonly #tab: Page;
  readonly #origins = new Set<string>();
  #paths = 0;

  private constructor(parts: {
    client: ServiceClient;
    pages: PageServer;
    launch: LaunchOptions;
    tab: Page;
  }) {
    this.client = parts.client;
    this.pages = parts.pages;
    this.launch = parts.launch;
    this.#tab = parts.tab;
  }

  static async open(executablePath: string): Promise<LandingWorld> {
    const answer = await fetch(inject("landingServiceUrl"));
    assert(answer.ok, `the service did not start: ${answer.statusText}`);
    const client = new ServiceClient(Demo.parse(await answer.json()));
    const pages = await PageServer.open();
    const args = browserArguments(new URL(client.demo.tracking_url).port, pages.port);
    const launch = { executablePath, args };
    const browser = await chromium.launch(launch);
    const tab = await (await browser.newContext()).newPage();
    return new LandingWorld({ client, pages, launch, tab });
  }

  /** Opens a page with the script as a new visitor. */
  async visit(options: OpenOptions = {}): Promise<LandingPage> {
    if (options.prepare !== undefined) {
      // A context of its own, so that faults and clocks do not affect other visits.
      const { browser } = this;
      return await this.#open(await (await browser.newContext()).newPage(), options);
    }
    await this.#forgetVisitor();
    return await this.visitAgain(options);
  }

  /** Opens a page as the same visitor. All visits share one tab, because opening one takes longer than most tests. */
  async visitAgain(options: OpenOptions = {}): Promise<LandingPage> {
    return await this.#open(this.#tab, options);
  }

  async #open(page: Page, options: OpenOptions): Promise<LandingPage> {
    this.#paths += 1;
    const path = options.path ?? `/page-${this.#paths}`;
    this.pages.put(path, pageHtml(options));
    const opened = new LandingPage(page, this.pageErrors);
    await options.prepare?.(page);
    const origin = options.origin ?? SHOP;
    this.#origins.add(origin);
    const url = `${origin}${path}${options.query ?? ""}`;
    const { referer } = options;
    await page.goto(options.through?.(url) ?? url, referer === undefined ? {} : { referer });
    return opened;
  }

  async #forgetVisitor(): Promise<void> {
    const context = this.#tab.context();
    await context.clearCookies();
    const session = await context.newCDPSession(this.#tab);
    for (const origin of this.#origins) {
      await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
    }
    await session.detach();
  }

  get browser(): Browser {
    const browser = this.#tab.context().browser();
    assert(browser !== null, "the tab belongs to no launched browser");
    return browser;
  }

  /** Fails if an exception reached one of the pages. */
  async endVisits(): Promise<void> {
    const others = this.browser.contexts().filter((context) => context !== this.#tab.context());
    await Promise.all(others.map((context) => context.close()));
    assert.deepEqual(this.pageErrors.splice(0), []);
  }

  /** A click on a partner's link. Returns the ID from the URL that the service redirects to. */
  async partnerClick(partner = PARTNER): Promise<string> {
    const { demo } = this.client;
    const { headers } = await this.client.attempt(`${demo.tracking_url}/r/${OFFER}/${partner}`, {
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/120.0",
    });
    const id = /click_id=([0-9a-f]{32})$/.exec(String(headers["location"]))?.[1];
    return z.string().parse(id);
  }

  /** The recorded click, with its partner's name as `partner`. */
  async click(id: string): Promise<Record<string, unknown>> {
    const { data } = ClickDetail.parse(await this.client.rest(`/clicks/${id}`));
    return { ...data.click, partner: data.affiliate.label };
  }

  /** The only conversion with this order ID. */
  async conversion(txid: string): Promise<Record<string, unknown>> {
    return await until(`a conversion with order ${txid}`, async () => {
      const path = `/conversions?adv_txid=${txid}`;
      const { data } = Conversions.parse(await this.client.rest(path));
      assert(data.length <= 1, `${data.length} conversions with order ${txid}`);
      return data[0];
    });
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.pages.close();
    await this.client.close();
  }
}

function browserArguments(trackingPort: string, shopPort: number): string[] {
  const rules = [
    `MAP ${TRACK_HOST}:80 127.0.0.1:${trackingPort}`,
    `MAP ${PLAIN_HOST}:80 127.0.0.1:${trackingPort}`,
    `MAP * 127.0.0.1:${shopPort}`,
  ];
  const isRoot = process.getuid?.() === 0;
  return [`--host-resolver-rules=${rules.join(", ")}`, ...(isRoot ? ["--no-sandbox"] : [])];
}

function pageHtml(options: OpenOptions): string {
  const { attributes = "", before = "", body = "", copies = 1, track = TRACK } = options;
  const script = `<script src="${track}/sdk.js${options.scriptQuery ?? ""}" ${attributes}></script>`;
  return `<!doctype html><title>Shop</title>${before}${script.repeat(copies)}<body>${body}</body>`;
}

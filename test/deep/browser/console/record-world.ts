import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { z } from "zod";
import {
  type ConsoleBrowser,
  type Role,
  settled,
} from "../../../browser/console/console-browser.ts";

const Made = z.object({ data: z.looseObject({ id: z.int() }) });
const Listed = z.object({ data: z.array(z.looseObject({ id: z.int() })) });

/** What tests of the pages of records share: records made over REST, and how a page is used. */
export class RecordWorld {
  readonly #browser: ConsoleBrowser;

  constructor(browser: ConsoleBrowser) {
    this.#browser = browser;
  }

  get base(): string {
    return this.#browser.base("admin");
  }

  async make(path: string, body: unknown): Promise<number> {
    const answer = await fetch(`${this.#browser.demo.base_url}${path}`, {
      method: "POST",
      headers: { ...this.#headers(), "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201, `${path} makes a record`);
    return Made.parse(await answer.json()).data.id;
  }

  async makeOffer(terms: object): Promise<number> {
    return await this.make("/offers", {
      advertiser_id: 1,
      destination_url: "https://shop.example/?c={click_id}",
      ...terms,
    });
  }

  async change(path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${this.#browser.demo.base_url}${path}`, {
      method: "PATCH",
      headers: { ...this.#headers(), "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, `${path} changes a record`);
  }

  async read(path: string): Promise<z.infer<typeof Made>["data"]> {
    const answer = await fetch(`${this.#browser.demo.base_url}${path}`, {
      headers: this.#headers(),
    });
    return Made.parse(await answer.json()).data;
  }

  async list(path: string): Promise<z.infer<typeof Listed>["data"]> {
    const answer = await fetch(`${this.#browser.demo.base_url}${path}`, {
      headers: this.#headers(),
    });
    return Listed.parse(await answer.json()).data;
  }

  async open(path: string, role: Role = "admin", width = 1440): Promise<Page> {
    const page = await this.#browser.page(role, { width });
    await page.goto(this.#browser.base(role) + path);
    await settled(page);
    return page;
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#browser.demo.keys.admin}` };
  }
}

export const field = (page: Page | Locator, label: string): Locator =>
  page.getByLabel(label, { exact: true });

export const press = async (page: Page, name: string): Promise<void> =>
  await page.getByRole("button", { name, exact: true }).click();

/** A step of a form, or a tab of a page. */
export const step = async (page: Page, title: string): Promise<void> =>
  await page.locator(".steps-nav").getByRole("button", { name: title }).click();
export const tab = (page: Page, title: string): Locator =>
  page.locator(".tabs").getByRole("link", { name: title, exact: true });

export const question = (page: Page): Locator =>
  page.getByRole("dialog", { name: "Discard changes?" });

import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import type { ConsoleBrowser } from "../../../browser/console/console-browser.ts";
import { invite, join, PeoplePages, signIn } from "./people-pages.ts";

type Kept = readonly { readonly list: string; readonly columns: readonly string[] }[];

/** New people of the staff, because what one person keeps must not change what other tests see. */
export class ListPeople {
  readonly #browser: ConsoleBrowser;
  readonly #pages: PeoplePages;
  /** Files share a process and a service, where each address can be invited once. */
  readonly #name = `lists-${randomUUID()}`;
  #count = 0;

  constructor(browser: ConsoleBrowser) {
    this.#browser = browser;
    this.#pages = new PeoplePages(browser);
  }

  async join(): Promise<{ readonly page: Page; readonly email: string }> {
    this.#count += 1;
    const email = `${this.#name}-${this.#count}@people.example`;
    const admin = await this.#browser.page("admin");
    const link = await invite(admin, this.#browser.base("admin"), { email, role: "admin" });
    await admin.context().close();
    const page = await this.#pages.open();
    await join(page, link, `Person ${this.#count}`);
    return { page, email };
  }

  /** The same person in another browser. */
  async signIn(email: string): Promise<Page> {
    const page = await this.#pages.open();
    await page.goto(`${this.#browser.origin}/console/`);
    await signIn(page, email);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    return page;
  }

  /** Sends columns to the API in the name of the page's person. Returns the status of the answer. */
  async keep(page: Page, lists: Kept): Promise<number> {
    const sent = JSON.stringify({ preferences: { list_columns: lists } });
    return await page.evaluate<number>(`fetch("/api/v1/person", {
      method: "PATCH",
      headers: { "content-type": "application/json", "x-tracker-membership": "0" },
      body: ${JSON.stringify(sent)},
    }).then((answer) => answer.status)`);
  }
}

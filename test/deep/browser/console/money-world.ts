import assert from "node:assert";
import { readFile } from "node:fs/promises";
import type { Download, Locator, Page } from "playwright-core";
import { z } from "zod";
import { openPool, type Pool } from "../../../../schemas/postgres/connect.ts";
import { ConsoleBrowser, settled } from "../../../browser/console/console-browser.ts";
import { signInRoles } from "../../../browser/console/sign-in-roles.ts";
import { StatementBooks } from "../../../integration/billing/statement-books.ts";
import { serversOf } from "../../../system/servers-of.ts";
import { type System, startSystem } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

const Answer = z.object({ data: z.unknown() });
const Record = z.looseObject({ id: z.union([z.int(), z.string()]) });
const PICTURES = process.env["MONEY_PICTURES"];
const DAY_MS = 86_400_000;
/** The checksum of an IBAN is over letters as numbers: D is 13, E is 14. */
const GERMANY = "1314";
const IBAN_MODULUS = 97n;

type Payment = {
  readonly payment_method: string;
  readonly payment_details: Readonly<Record<string, string>>;
};

/** A service of its own, whose only admin is at a browser: books are made of nothing, and every figure is the test's. */
export class MoneyWorld {
  readonly system: System;
  readonly browser: ConsoleBrowser;
  readonly pool: Pool;
  #pictures = 0;

  private constructor(system: System, browser: ConsoleBrowser, pool: Pool) {
    this.system = system;
    this.browser = browser;
    this.pool = pool;
  }

  static async open(program: string): Promise<MoneyWorld> {
    const system = await startSystem();
    const cookies = await signInRoles(system);
    const browser = await ConsoleBrowser.at(program, system.client.demo, cookies);
    const { postgres } = await serversOf(system);
    const pool = openPool({ url: postgres, applicationName: "test", connectionsMax: 2 });
    const world = new MoneyWorld(system, browser, pool);
    await world.#closeByHand();
    return world;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.pool.end();
    await this.system[Symbol.asyncDispose]();
  }

  /** Otherwise the scheduler closes a period while a person looks at its preview. Its longest lease outlasts the test. */
  async #closeByHand(): Promise<void> {
    await this.pool.query({
      text: `insert into schedule_task (name, owner, expires_at) values ('statements', 'test', now() + interval '29 minutes')
             on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at`,
    });
  }

  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const { base_url: api, keys } = this.browser.demo;
    const answer = await fetch(`${api}${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return Answer.parse(JSON.parse(text)).data;
  }

  async make(path: string, body: unknown): Promise<z.infer<typeof Record>> {
    return Record.parse(await this.call("POST", path, body));
  }

  /** The newest record of a list. */
  async first(path: string): Promise<z.infer<typeof Record>> {
    const [first] = z.array(Record).parse(await this.call("GET", path));
    assert(first !== undefined, `${path} has a record`);
    return first;
  }

  /** A partner, and how it is paid if that is given. */
  async partner(fields: object, payment?: Payment): Promise<number> {
    const { id } = await this.make("/affiliates", fields);
    if (payment !== undefined) await this.call("PUT", `/affiliates/${id}/payment-method`, payment);
    return Number(id);
  }

  async offer(fields: object): Promise<z.infer<typeof Record>> {
    return await this.make("/offers", {
      advertiser_id: 1,
      destination_url: "https://shop.example/?c={click_id}",
      ...fields,
    });
  }

  /** Waits until the ledger has all that conversions have become. */
  async posted(): Promise<void> {
    await until("everything is posted", async () => {
      const { rows } = await this.pool.query<{ is_done: boolean }>({
        text: `select not exists (select from ledger_outbox)
                 and not exists (select from billing_settings where enabled and backfilled_to is distinct from 9223372036854775807) as is_done`,
      });
      return rows[0]?.is_done;
    });
  }

  /** Takes all that is posted back to a day in the last month, as if the month had ended since. Nothing else is in the books of this service. */
  async takeBack(): Promise<void> {
    const { rows } = await this.pool.query<{ id: number }>({
      text: "select id from workspace where slug = 'demo'",
    });
    const [demo] = rows;
    assert(demo !== undefined, "the service has a demo");
    await new StatementBooks(this, demo.id).takeBack(daysToLastMonth());
  }

  /** What the audit of the books finds. */
  async violations(): Promise<unknown> {
    const { violations } = z
      .object({ violations: z.array(z.unknown()) })
      .parse(await this.call("GET", "/billing/audit"));
    return violations;
  }

  async picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    this.#pictures += 1;
    const number = String(this.#pictures).padStart(2, "0");
    await settled(page);
    await page.screenshot({ path: `${PICTURES}/${number}-${name}.png`, fullPage: true });
  }
}

/** A German account that passes the checksum. */
export function wireTo(holder: string, account: number): Payment {
  const number = String(370_400_440_000_000_000n + BigInt(account));
  const check = 98n - (BigInt(`${number}${GERMANY}00`) % IBAN_MODULUS);
  const iban = `DE${String(check).padStart(2, "0")}${number}`;
  return { payment_method: "wire", payment_details: { holder, iban } };
}

/** Days back from now to a day that is in the last month of UTC, whatever the day is. */
function daysToLastMonth(now = new Date()): number {
  return now.getUTCDate() + 10;
}

export function dayFromNow(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

export function firstDayOfLastMonth(now = new Date()): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
    .toISOString()
    .slice(0, 10);
}

/** An amount as a screen or the API writes it, such as "-$1,204.50", in ten-thousandths. */
export function tenThousandths(shown: string): bigint {
  const [, minus = "", whole = "", fraction = ""] =
    /^(-?)\D*([\d,]+)(?:\.(\d{1,4}))?$/.exec(shown.trim().replace("−", "-")) ?? [];
  assert(whole !== "", `"${shown}" is an amount`);
  const amount = BigInt(whole.replaceAll(",", "") + fraction.padEnd(4, "0"));
  return minus === "" ? amount : -amount;
}

/** As the console writes it in English: four digits only where a coin is broken. */
export function inWords(amount: bigint, currency: string): string {
  const sign = { USD: "$", EUR: "€", GBP: "£" }[currency] ?? `${currency} `;
  const digits = String(amount < 0n ? -amount : amount).padStart(5, "0");
  const whole = digits.slice(0, -4).replace(/\B(?=(?:\d{3})+$)/g, ",");
  const fraction = digits.slice(-4).replace(/00$/, "");
  return `${amount < 0n ? "-" : ""}${sign}${whole}.${fraction}`;
}

/** The cells of a table by the titles of its columns, one record a row. */
export async function readTable(table: Locator): Promise<Readonly<Record<string, string>>[]> {
  const texts = async (cells: Locator): Promise<string[]> =>
    (await cells.allTextContents()).map((text) => text.trim());
  const titles = await texts(table.locator("thead th"));
  const rows = await table.locator("tbody tr").all();
  return await Promise.all(
    rows.map(async (row) => {
      const cells = await texts(row.locator("td"));
      return Object.fromEntries(titles.map((title, at) => [title, cells[at] ?? ""]));
    }),
  );
}

/** Presses a button and reads the file that the browser saves. */
export async function saved(
  page: Page,
  name: string,
): Promise<{ readonly name: string; readonly text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), text: await textOf(download) };
}

async function textOf(download: Download): Promise<string> {
  return await readFile(await download.path(), "utf8");
}

/** Sends what the bank did with each payment of the run on the screen, as a file. Waits for the words about it. */
export async function enterResults(
  page: Page,
  rows: readonly (readonly string[])[],
  outcome: string | RegExp,
): Promise<void> {
  const lines = [["reference", "status", "external_id", "amount", "error"], ...rows];
  const text = lines.map((cells) => `${cells.join(",")}\n`).join("");
  const file = { name: "results.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  await page.getByLabel("Or a file", { exact: true }).setInputFiles(file);
  const read = page.getByLabel("Results as CSV");
  await until("the file is read", async () => (await read.inputValue()) === text);
  await page.getByRole("button", { name: "Enter the results", exact: true }).click();
  await page.getByRole("status").getByText(outcome).waitFor();
}

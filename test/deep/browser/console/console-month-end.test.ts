import assert from "node:assert";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../../../browser/chromium-program.ts";
import { settled } from "../../../browser/console/console-browser.ts";
import { choose } from "./choose.ts";
import {
  dayFromNow,
  enterResults,
  firstDayOfLastMonth,
  inWords,
  MoneyWorld,
  readTable,
  saved,
  tenThousandths,
} from "./money-world.ts";
import {
  CURRENCIES,
  type Currency,
  coins,
  currencyIn,
  cut,
  MonthBooks,
  PARTNERS,
  SMALL,
  sum,
} from "./month-books.ts";
import { field, press } from "./record-world.ts";

const program = findChromium();
/** A partner with a wallet, who earns in euros, too. */
const IN_TWO = "Partner 01";
/** Statements of partners in pounds are due so many days after the month at most. */
const DUE_DAYS = 70;

type Run = {
  readonly currency: Currency;
  readonly pays: (name: string) => boolean;
  readonly file?: string;
  readonly dueUntil?: string;
  readonly held?: string;
};

describe.skipIf(program === undefined)("the end of a month, by a person at the console", () => {
  let world: MoneyWorld;
  let books: MonthBooks;
  let page: Page;
  /** What was paid, by partner and currency. */
  const paid = new Map<string, bigint>();
  /** Totals of runs as the test adds them up, the newest first. */
  const runs: { readonly currency: Currency; readonly total: string }[] = [];

  beforeAll(async () => {
    world = await MoneyWorld.open(program ?? "");
    books = new MonthBooks(world);
    await books.fill();
    page = await world.browser.page("admin");
  });
  afterEach(() => assert.deepEqual(world.browser.faults.splice(0), []));
  afterAll(() => world.close());

  const go = async (path: string): Promise<void> => {
    await page.goto(world.browser.base("admin") + path);
    await settled(page);
  };
  const drawer = (): Locator => page.locator(".drawer");
  const rows = async () => await readTable(page.locator(".data-table").first());

  test("billing is switched on for the last month, which posts what was approved (N36, N39)", async () => {
    await go("/money/settings");
    await field(page, "First day").fill(firstDayOfLastMonth());
    await press(page, "Switch billing on");
    await page.getByRole("heading", { name: "Billing is on" }).waitFor();
    await field(page, "Legal name").fill("Network Ltd");
    await field(page, "IBAN").fill("NL91ABNA0417164300");
    await field(page, "Hours to wait after a changed bank account").fill("0");
    await press(page, "Save");
    await page.getByText("Saved.").waitFor();
    await world.picture(page, "settings");
    await world.posted();
    await go("/money");
    const balances = await rows();
    expect(balances).toHaveLength(PARTNERS + 2);
    for (const row of balances) {
      const partner = books.partnerNamed(row["Partner"] ?? "");
      const owed = books.earned(partner, currencyIn(row["Owed"] ?? ""));
      expect(tenThousandths(row["Owed"] ?? "")).toBe(owed);
      expect(row["Unbilled"]).toBe(row["Owed"]);
    }
    await world.picture(page, "balances-before");
  });

  test("the advertiser's file is checked and applied, and its sums are the test's (N129)", async () => {
    const decided = books.decide();
    const [offer = ""] = decided[0] ?? [];
    const content = [
      ["Campaign", "Order ID", "State", "Partner commission"],
      ...decided,
      [offer, "NEVER-SEEN", "confirmed", ""],
      [offer, "ORDER-2", "confirmed", "1,50"],
    ];
    await go("/money/confirm");
    await field(page, "File").setInputFiles({
      name: "confirmed.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(content.map((cells) => `${cells.join(";")}\n`).join("")),
    });
    await press(page, "Check the file");
    const shown = page.getByLabel("This file");
    await shown.getByText("23 rows: 21 would change, 1 unknown, 1 refused.").waitFor();
    const unknown = shown.getByRole("region", { name: "Unknown rows" });
    await unknown.getByText(`Row 23 Order number NEVER-SEEN, Offer ${offer}`).waitFor();
    const refused = shown.getByRole("region", { name: "Refused rows" });
    await refused.getByText(/^Row 24 Payout.*has a comma/).waitFor();
    await world.picture(page, "confirmation");
    const orders = new Set(decided.map(([, order]) => order));
    for (const currency of CURRENCIES) {
      const after = books.sales.filter(
        (sale) =>
          sale.currency === currency && orders.has(sale.order) && sale.status === "approved",
      );
      const all = shown.getByRole("list", { name: "All together" }).getByRole("listitem");
      const words = inWords(
        sum(after, ({ payout }) => payout),
        currency,
      );
      expect(await all.filter({ hasText: currency }).textContent()).toContain(`becomes ${words},`);
    }
    await press(page, "Change 21 conversions");
    await shown.getByText("23 rows: 21 changed, 1 unknown, 1 refused.").waitFor();
    await world.posted();
    await world.takeBack();
  });

  test("the month is closed from its preview: 21 statements, one carried below the minimum (N48)", async () => {
    const all = CURRENCIES.map((currency) => inWords(books.payable(currency), currency));
    await go("/money/statements");
    await press(page, "Close periods");
    const preview = drawer().getByText(/^21 drafts with .*, 1 carried$/);
    for (const words of all) await preview.and(drawer().getByText(words)).waitFor();
    await world.picture(page, "close");
    await press(page, "Make the statements");
    const made = drawer().getByRole("status");
    await made.getByText(/^21 drafts with .*, 1 carried made\./).waitFor();
    await press(page, "Done");
    await page.getByLabel("Status", { exact: true }).selectOption("draft");
    await settled(page);
    await field(page, "All rows").check();
    await world.picture(page, "drafts");
    await press(page, "Approve");
    const question = page.getByRole("dialog", { name: "Approve 21 statements?" });
    for (const words of all) await question.getByText(words).waitFor();
    await world.picture(page, "approve");
    await press(page, "Approve 21 statements");
    await question.waitFor({ state: "detached" });
    await page.getByText("Nothing for these filters").waitFor();
    await go("/money/statements");
    const statements = await rows();
    expect(statements).toHaveLength(PARTNERS + 2);
    for (const row of statements) {
      const currency = currencyIn(row["Total"] ?? "");
      const total = books.earned(books.partnerNamed(row["Partner"] ?? ""), currency);
      const payable = row["Partner"] === SMALL ? 0n : cut(total);
      expect(row).toMatchObject({
        Total: inWords(total, currency),
        "To be paid": inWords(payable, currency),
        "Carried on": inWords(total - payable, currency),
        Status: row["Partner"] === SMALL ? "Carried" : "Approved",
      });
    }
    const numbers = statements.map((row) => row["Number"] ?? "");
    expect(new Set(numbers).size).toBe(PARTNERS + 2);
    expect(numbers.filter((number) => !/^S-\d{4}-00\d\d$/.test(number))).toEqual(["None"]);
    await world.picture(page, "statements");
  });

  /** Makes a run from its preview, approves it and saves its file. Returns the cells of the file's rows. */
  const makeRun = async ({ currency, pays, file = "", dueUntil, held }: Run) => {
    const accounts = books.accounts(currency).filter(({ name }) => pays(name));
    const total = inWords(books.payable(currency, accounts), currency);
    const left = books.accounts(currency).filter(({ name }) => name === held);
    await go("/money/payouts");
    await press(page, "New run");
    await choose(drawer(), "Currency", { sought: currency });
    await field(drawer(), "File").selectOption({ label: file === "" ? "Any" : file });
    if (dueUntil !== undefined) {
      // Only who asks for a later day pays before it.
      await press(page, "Preview");
      await drawer().getByText("Nothing is due with these terms.").waitFor();
      await field(drawer(), "Due until").fill(dueUntil);
    }
    await press(page, "Preview");
    const heldTotal = inWords(books.payable(currency, left), currency);
    const words = `${accounts.length} paid with ${total}, ${left.length} held with ${heldTotal}.`;
    await drawer().getByText(words).waitFor();
    await world.picture(page, `preview-${runs.length}`);
    await press(page, "Make the run");
    await page.getByRole("heading", { name: /^Run \d+$/, level: 1 }).waitFor();
    await press(page, "Approve");
    const count = accounts.length === 1 ? "1 payment" : `${accounts.length} payments`;
    await page.getByRole("dialog").getByText(`${count} with ${total}`).waitFor();
    await press(page, `Approve ${count}`);
    await page.locator(".record-head .badge", { hasText: /^Approved$/ }).waitFor();
    runs.unshift({ currency, total });
    await world.picture(page, `approved-${runs.length}`);
    const { text } = await saved(page, "CSV");
    const lines = text
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));
    const expected = accounts.map(({ partner, name }) =>
      [name, currency, coins(cut(books.earned(partner, currency)))].join(" "),
    );
    const inFile = lines.map(
      ([, , name, , of, amount]) => `${name ?? ""} ${of ?? ""} ${amount ?? ""}`,
    );
    expect(inFile.toSorted()).toEqual(expected.toSorted());
    return lines;
  };

  /** Enters that the bank paid each row of the file. */
  const payAll = async (lines: readonly (readonly string[])[], { currency }: Run) => {
    const results = lines.map(([reference = "", , , , , amount = ""]) => {
      return [reference, "paid", `BANK-${reference}`, amount, ""];
    });
    await enterResults(page, results, `${lines.length} applied, 0 unchanged, 0 rejected.`);
    await page.locator(".record-head .badge", { hasText: /^Paid$/ }).waitFor();
    for (const [, , name = "", , , amount = ""] of lines)
      paid.set(`${books.partnerNamed(name)} ${currency}`, tenThousandths(amount));
  };

  test("dollars and pounds are paid, these before they are due (N52–N55)", async () => {
    const dollars: Run = { currency: "USD", pays: () => true };
    await payAll(await makeRun(dollars), dollars);
    const dueUntil = dayFromNow(DUE_DAYS);
    const pounds: Run = { currency: "GBP", pays: () => true, dueUntil };
    await payAll(await makeRun(pounds), pounds);
    expect(paid.size).toBe(books.accounts("USD").length + books.accounts("GBP").length);
    await world.picture(page, "paid");
  });

  test("a run for the bank's file holds who has no bank, whom a second run pays (N54, N56)", async () => {
    const transfers: Run = {
      currency: "EUR",
      file: "SEPA transfers",
      pays: (name) => name !== IN_TWO,
      held: IN_TWO,
    };
    const lines = await makeRun(transfers);
    const held = page.getByRole("region", { name: "Held payments" }).getByRole("row");
    await held
      .filter({ hasText: IN_TWO })
      .getByText("The payment details do not fit the file")
      .waitFor();
    const { text } = await saved(page, "SEPA transfers");
    const accounts = books.accounts("EUR").filter(({ name }) => name !== IN_TWO);
    const total = coins(books.payable("EUR", accounts));
    expect(text).toContain(`<NbOfTxs>${accounts.length}</NbOfTxs><CtrlSum>${total}</CtrlSum>`);
    await payAll(lines, transfers);
    const wallet: Run = { currency: "EUR", pays: (name) => name === IN_TWO };
    await payAll(await makeRun(wallet), wallet);
    expect(paid.size).toBe(PARTNERS + 1);
  });

  test("a transfer that came back is owed again, and the next run would pay it (N53, N55)", async () => {
    const { id } = await world.first("/payout-runs?currency=USD");
    await go(`/money/payouts/${id}`);
    const [line] = await readTable(page.getByRole("table", { name: "Payments of the run" }));
    const { Partner: name = "", Reference: reference = "", Amount: amount = "" } = line ?? {};
    const sent = coins(tenThousandths(amount));
    const back = [reference, "returned", `BANK-${reference}`, sent, "account closed"];
    await enterResults(page, [back], "1 applied, 0 unchanged, 0 rejected.");
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByText("account closed").waitFor();
    await row.getByText("Returned", { exact: true }).waitFor();
    const facts = page.getByRole("region", { name: "Run", exact: true });
    const all = books.accounts("USD").length;
    const left = books.payable("USD") - tenThousandths(amount);
    await facts.getByText(`${inWords(left, "USD")}, ${all - 1} of ${all}`).waitFor();
    await world.picture(page, "returned");
    paid.set(`${books.partnerNamed(name)} USD`, 0n);
    await go("/money/payouts");
    await press(page, "New run");
    await choose(drawer(), "Currency", { sought: "USD" });
    await press(page, "Preview");
    await drawer().getByText(`1 paid with ${amount}, 0 held with $0.00.`).waitFor();
    expect(await drawer().getByRole("row").filter({ hasText: name }).count()).toBe(1);
  });

  test("a refund after the payment is a clawback of the statement that paid it (N44)", async () => {
    const refunded = books.sales.find((sale) => sale.currency === "GBP");
    assert(refunded !== undefined);
    const { partner, offer: code, payout } = refunded;
    await go(`/conversions?preset=last7&affiliate_id=${partner}&status=approved`);
    await field(page, `Select ${refunded.id}`).check();
    await field(page.getByRole("group", { name: "Chosen rows" }), "Reason").fill("Sent back");
    await press(page, "Reject");
    await press(page, "Reject now");
    await page.getByText("Conversion of Pound shop rejected").first().waitFor();
    refunded.status = "rejected";
    const terms = { code, currency: "GBP" as const, isOpen: false };
    const next = [await books.sell(partner, terms), await books.sell(partner, terms)];
    await world.posted();
    await go(`/money/statements?affiliate_id=${partner}`);
    const [first = {}] = await rows();
    const sold = sum(next, (sale) => sale.payout);
    const total = tenThousandths(first["Carried on"] ?? "") - payout + sold;
    await press(page, "Close periods");
    await choose(drawer(), "Partner", { sought: books.names.get(partner) ?? "" });
    await field(drawer(), "Until").fill(dayFromNow(0));
    await drawer()
      .getByText(`1 draft with ${inWords(cut(total), "GBP")}`)
      .waitFor();
    await press(page, "Make the statements");
    await press(page, "Done");
    const draft = page.locator("tbody tr").filter({ hasText: "Draft" });
    await draft.getByRole("button").first().click();
    await page.getByRole("heading", { name: "Lines" }).waitFor();
    const lines = await rows();
    expect(lines.map(({ Item, Count, Amount }) => [Item, Count, Amount])).toEqual([
      ["Conversions", "2", inWords(sold, "GBP")],
      [`Clawback of ${first["Number"] ?? ""}`, "-1", inWords(-payout, "GBP")],
    ]);
    await page.getByText(inWords(total, "GBP"), { exact: true }).first().waitFor();
    await world.picture(page, "clawback");
  });

  test("balances, statements and payouts are the sums of the test, and the audit finds nothing (I1–I8)", async () => {
    await go("/money");
    const balances = await rows();
    expect(balances).toHaveLength(PARTNERS + 2);
    for (const row of balances) {
      const figure = (title: string): bigint => tenThousandths(row[title] ?? "");
      const currency = currencyIn(row["Owed"] ?? "");
      const partner = books.partnerNamed(row["Partner"] ?? "");
      const gone = paid.get(`${partner} ${currency}`) ?? 0n;
      expect(row["Currency"]).toBe(currency);
      expect(row["Paid"]).toBe(inWords(gone, currency));
      expect(row["Owed"]).toBe(inWords(books.earned(partner, currency) - gone, currency));
      expect(figure("Owed")).toBe(sum(["Unbilled", "Carried", "Draft", "Approved"], figure));
      expect([figure("Pending"), figure("In payout")]).toEqual([0n, 0n]);
    }
    await world.picture(page, "balances");
    await go("/money/statements?status=paid");
    for (const currency of CURRENCIES) {
      const shown = (await rows()).filter((row) => currencyIn(row["Total"] ?? "") === currency);
      const all = [...paid].filter(([of]) => of.endsWith(currency));
      expect(sum(shown, (row) => tenThousandths(row["To be paid"] ?? ""))).toBe(
        sum(all, ([, amount]) => amount),
      );
    }
    await go("/money/payouts");
    const shown = await rows();
    expect(shown.map((row) => [row["Currency"], row["Status"], row["Total"]])).toEqual(
      runs.map(({ currency, total }) => [currency, "Paid", total]),
    );
    expect(sum(shown, (row) => BigInt(row["Payments"] ?? ""))).toBe(BigInt(PARTNERS + 1));
    expect(sum(shown, (row) => BigInt(row["Paid"] ?? ""))).toBe(BigInt(PARTNERS));
    await world.picture(page, "payouts");
    await go("/money/settings");
    await press(page, "Check the books now");
    await page.getByText("Everything adds up.").waitFor();
    await world.picture(page, "audit");
    expect(await world.violations()).toEqual([]);
  });
});

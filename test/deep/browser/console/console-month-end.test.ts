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
  wireTo,
} from "./money-world.ts";
import { field, press } from "./record-world.ts";

const program = findChromium();
const CURRENCIES = ["USD", "EUR", "GBP"] as const;
type Currency = (typeof CURRENCIES)[number];
const PARTNERS = 20;
/** Of each partner: two that are approved at once, and one that waits for the advertiser. */
const PER_PARTNER = 3;
/** Who earns less than its minimum, and is in dollars. */
const SMALL = "Small beer";

/** What the test knows of a conversion, by itself. Amounts are ten-thousandths. */
type Sale = {
  readonly partner: number;
  readonly currency: Currency;
  readonly id: string;
  readonly order: string;
  readonly offer: string;
  payout: bigint;
  status: "approved" | "pending" | "rejected";
};

describe.skipIf(program === undefined)("the end of a month, by a person at the console", () => {
  let world: MoneyWorld;
  let page: Page;
  const names = new Map<number, string>();
  const sales: Sale[] = [];
  /** Payables of approved statements, and what of them was paid, by partner and currency. */
  const paid = new Map<string, bigint>();
  const runTotals = new Map<Currency, bigint>();
  let returned = "";

  beforeAll(async () => {
    world = await MoneyWorld.open(program ?? "");
    await prepare();
    page = await world.browser.page("admin");
  });
  afterEach(() => assert.deepEqual(world.browser.faults.splice(0), []));
  afterAll(() => world.close());

  const prepare = async (): Promise<void> => {
    const offers = await Promise.all([
      world.offer({ name: "Dollar shop", currency: "USD", payout: "12.3456", revenue: "20" }),
      world.offer({
        name: "Euro shop",
        currency: "EUR",
        payout_type: "cps",
        payout: "7.35",
        revenue_type: "rps",
        revenue: "11",
      }),
      world.offer({ name: "Pound shop", currency: "GBP", payout: "8.005", revenue: "9.5" }),
    ]);
    const codes = offers.map(({ code }) => String(code));
    for (let at = 0; at < PARTNERS; at += 1) {
      const currency = CURRENCIES[at % 3] ?? "USD";
      const name = `Partner ${String(at + 1).padStart(2, "0")}`;
      // Those in pounds are due later.
      const terms = { payment_terms: currency === "GBP" ? "net60" : "monthly", currency };
      const payment =
        currency === "USD"
          ? { payment_method: "wallet_a", payment_details: { account: `p${at}@pay.example` } }
          : wireTo(`Holder ${at + 1}`, at);
      const partner = await world.partner({ name, ...terms }, payment);
      names.set(partner, name);
      for (let sold = 0; sold < PER_PARTNER; sold += 1)
        await sell(partner, { code: codes[at % 3] ?? "", currency, isOpen: sold === 2 });
      // One partner earns in two currencies, and has a statement of each.
      if (at === 0) await sell(partner, { code: codes[1] ?? "", currency: "EUR", isOpen: false });
    }
    const small = { name: SMALL, payment_terms: "monthly", currency: "USD", min_payout: "50" };
    const partner = await world.partner(small, wireTo("Small", 99));
    names.set(partner, SMALL);
    await sell(partner, { code: codes[0] ?? "", currency: "USD", isOpen: false });
  };

  /** A conversion by hand. What it earns is computed here: a fixed amount, or 7.35 % of the sale, half away from zero. */
  const sell = async (
    partner: number,
    { code, currency, isOpen }: { code: string; currency: Currency; isOpen: boolean },
  ): Promise<Sale> => {
    const number = BigInt(sales.length + 1);
    const saleAmount = 400_000n + number * 13_337n;
    const payout = {
      USD: 123_456n,
      EUR: (saleAmount * 735n * 2n + 10_000n) / 20_000n,
      GBP: 80_050n,
    }[currency];
    const status = isOpen ? "pending" : "approved";
    const order = `ORDER-${number}`;
    const { id } = await world.make("/conversions", {
      offer_id: code,
      affiliate_id: partner,
      status,
      adv_txid: order,
      sale_amount: decimal(saleAmount),
    });
    const sale: Sale = { partner, currency, id: String(id), order, offer: code, payout, status };
    sales.push(sale);
    return sale;
  };

  const go = async (path: string): Promise<void> => {
    await page.goto(world.browser.base("admin") + path);
    await settled(page);
  };
  const drawer = (): Locator => page.locator(".drawer");
  const table = (): Locator => page.locator(".data-table").first();
  const earned = (partner: number, currency: Currency): bigint =>
    sum(
      sales
        .filter((sale) => sale.partner === partner && sale.currency === currency)
        .filter(({ status }) => status === "approved"),
      ({ payout }) => payout,
    );
  /** Accounts of those that are paid, in one currency. */
  const accounts = (currency: Currency): { readonly partner: number; readonly name: string }[] =>
    [...names]
      .filter(([partner, name]) => name !== SMALL && earned(partner, currency) > 0n)
      .map(([partner, name]) => ({ partner, name }));
  const payable = (currency: Currency): bigint =>
    sum(accounts(currency), ({ partner }) => cut(earned(partner, currency)));

  test("billing is switched on for the last month, which posts what was approved (N36, N39)", async () => {
    await go("/money/settings");
    await field(page, "First day").fill(firstDayOfLastMonth());
    await press(page, "Switch billing on");
    await page.getByRole("heading", { name: "Billing is on" }).waitFor();
    await field(page, "Legal name").fill("Network Ltd");
    await field(page, "IBAN").fill("NL91ABNA0417164300");
    await field(page, "Hours to wait after a changed bank account").fill("0");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    await world.picture(page, "settings");
    await world.posted();
    await go("/money");
    const rows = await readTable(table());
    expect(rows).toHaveLength(PARTNERS + 2);
    for (const row of rows) expect(row["Owed"]).toBe(row["Unbilled"]);
    await world.picture(page, "balances-before");
  });

  test("the advertiser's file is checked and applied, and its sums are the test's (N129)", async () => {
    const open = sales.filter(({ status }) => status === "pending");
    const lines = open.map((sale, at) => {
      if (at >= 16) sale.status = "rejected";
      else sale.status = "approved";
      if (at >= 12 && at < 16) sale.payout = 101_010n + BigInt(at);
      const payout = at >= 12 && at < 16 ? decimal(sale.payout) : "";
      return [sale.offer, sale.order, at >= 16 ? "declined" : "confirmed", payout];
    });
    const [fraud] = sales;
    assert(fraud !== undefined);
    fraud.status = "rejected";
    lines.push([fraud.offer, fraud.order, "declined", ""]);
    const content = [
      ["Campaign", "Order ID", "State", "Partner commission"],
      ...lines,
      [fraud.offer, "NEVER-SEEN", "confirmed", ""],
      [fraud.offer, sales[1]?.order ?? "", "confirmed", "1,50"],
    ];
    await go("/money/confirm");
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "confirmed.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(content.map((cells) => `${cells.join(";")}\n`).join("")),
    });
    await press(page, "Check the file");
    const shown = page.getByLabel("This file");
    await shown.getByText("23 rows: 21 would change, 1 unknown, 1 refused.").waitFor();
    const unknown = shown.getByRole("region", { name: "Unknown rows" });
    await unknown.getByText("Row 23 Order number: NEVER-SEEN").waitFor();
    const refused = shown.getByRole("region", { name: "Refused rows" });
    await refused.getByText(/^Row 24 Payout.*has a comma/).waitFor();
    await world.picture(page, "confirmation");
    const touched = new Set(lines.map(([, order]) => order));
    for (const currency of CURRENCIES) {
      const after = sales
        .filter((sale) => sale.currency === currency && touched.has(sale.order))
        .filter(({ status }) => status === "approved");
      const text = await shown
        .getByRole("list", { name: "All together" })
        .getByRole("listitem")
        .filter({ hasText: currency })
        .textContent();
      expect(text).toContain(
        `becomes ${inWords(
          sum(after, (sale) => sale.payout),
          currency,
        )},`,
      );
    }
    await press(page, "Change 21 conversions");
    await shown.getByText("23 rows: 21 changed, 1 unknown, 1 refused.").waitFor();
    await world.posted();
    await world.takeBack();
  });

  test("the month is closed from its preview: 21 statements, one carried below the minimum (N48)", async () => {
    await go("/money/statements");
    await press(page, "Close periods");
    const all = CURRENCIES.map((currency) => inWords(payable(currency), currency));
    for (const words of all) await drawer().getByText(words).first().waitFor();
    await drawer()
      .getByText(/^21 drafts with .*, 1 carried$/)
      .waitFor();
    await world.picture(page, "close");
    await press(page, "Make the statements");
    await drawer()
      .getByRole("status")
      .getByText(/^21 drafts with .*, 1 carried made\./)
      .waitFor();
    await press(page, "Done");
    await page.getByLabel("Status", { exact: true }).selectOption("draft");
    await settled(page);
    await page.locator("thead input[type=checkbox]").check();
    await world.picture(page, "drafts");
    await press(page, "Approve");
    const question = page.getByRole("dialog", { name: "Approve 21 statements?" });
    for (const words of all) await question.getByText(words).waitFor();
    await world.picture(page, "approve");
    await press(page, "Approve 21 statements");
    await question.waitFor({ state: "detached" });
    await page.getByText("Nothing for these filters").waitFor();
    await go("/money/statements");
    const rows = await readTable(table());
    expect(rows).toHaveLength(PARTNERS + 2);
    for (const row of rows) {
      const partner = partnerNamed(row["Partner"] ?? "");
      const currency = currencyIn(row["Total"] ?? "");
      const total = earned(partner, currency);
      const isSmall = row["Partner"] === SMALL;
      expect(tenThousandths(row["Total"] ?? "")).toBe(total);
      expect(tenThousandths(row["To be paid"] ?? "")).toBe(isSmall ? 0n : cut(total));
      expect(tenThousandths(row["Carried on"] ?? "")).toBe(isSmall ? total : total - cut(total));
      expect(row["Status"]).toBe(isSmall ? "Carried" : "Approved");
    }
    await world.picture(page, "statements");
  });

  test("each currency is paid by a run made from its preview, with a file and its results (N52–N55)", async () => {
    for (const currency of CURRENCIES) {
      const total = inWords(payable(currency), currency);
      const count = accounts(currency).length;
      await go("/money/payouts");
      await press(page, "New run");
      await choose(drawer(), "Currency", { sought: currency });
      await press(page, "Preview");
      if (currency === "GBP") {
        // They are due in two months, and only who asks for that day pays them now.
        await drawer().getByText("Nothing is due with these terms.").waitFor();
        await field(drawer(), "Due until").fill(dayFromNow(70));
        await press(page, "Preview");
      }
      const zero = inWords(0n, currency);
      await drawer().getByText(`${count} paid with ${total}, 0 held with ${zero}.`).waitFor();
      await world.picture(page, `preview-${currency}`);
      await press(page, "Make the run");
      await page.getByRole("heading", { name: /^Run \d+$/, level: 1 }).waitFor();
      await press(page, "Approve");
      await page.getByRole("dialog").getByText(`${count} payments with ${total}`).waitFor();
      await press(page, `Approve ${count} payments`);
      await page.locator(".record-head .badge", { hasText: /^Approved$/ }).waitFor();
      await world.picture(page, `approved-${currency}`);
      const { text } = await saved(page, "CSV");
      const rows = text.trim().split("\n").slice(1).map(cellsOf);
      expect(rows.map(([, , name, , of, amount]) => [name, of, amount])).toEqual(
        expect.arrayContaining(
          accounts(currency).map(({ partner, name }) => {
            const coins = decimal(cut(earned(partner, currency))).slice(0, -2);
            return [name, currency, coins];
          }),
        ),
      );
      expect(rows).toHaveLength(count);
      if (currency === "EUR") {
        const file = await saved(page, "SEPA transfers");
        const coins = decimal(payable(currency)).slice(0, -2);
        expect(file.text).toContain(`<NbOfTxs>${count}</NbOfTxs><CtrlSum>${coins}</CtrlSum>`);
      }
      await enterResults(
        page,
        rows.map(([reference = "", , , , , amount = ""]) => [
          reference,
          "paid",
          `BANK-${reference}`,
          amount,
          "",
        ]),
        `${count} applied, 0 unchanged, 0 rejected.`,
      );
      await page.locator(".record-head .badge", { hasText: /^Paid$/ }).waitFor();
      for (const { partner } of accounts(currency))
        paid.set(`${partner} ${currency}`, cut(earned(partner, currency)));
      runTotals.set(currency, payable(currency));
      if (currency === "EUR") await comeBack(rows[0] ?? []);
      await world.picture(page, `paid-${currency}`);
    }
  });

  /** The bank sends one transfer back, a week later. */
  const comeBack = async ([reference = "", , name = "", , , amount = ""]: readonly string[]) => {
    const row = [reference, "returned", `BANK-${reference}`, amount, "account closed"];
    await enterResults(page, [row], "1 applied, 0 unchanged, 0 rejected.");
    await page.getByRole("row").filter({ hasText: name }).getByText("account closed").waitFor();
    paid.set(`${partnerNamed(name)} EUR`, 0n);
    returned = name;
  };

  test("a transfer that came back is owed again, and the next run would pay it (N53, N55)", async () => {
    await go("/money/payouts");
    await press(page, "New run");
    await choose(drawer(), "Currency", { sought: "EUR" });
    await press(page, "Preview");
    const words = inWords(cut(earned(partnerNamed(returned), "EUR")), "EUR");
    await drawer().getByText(`1 paid with ${words}, 0 held with €0.00.`).waitFor();
    expect(await drawer().getByRole("row").filter({ hasText: returned }).count()).toBe(1);
    await world.picture(page, "next-run");
  });

  test("a refund after the payment is a clawback of the statement that paid it (N44)", async () => {
    const refunded = sales.find(
      ({ currency, status }) => currency === "GBP" && status === "approved",
    );
    assert(refunded !== undefined);
    const name = names.get(refunded.partner) ?? "";
    await go(`/conversions?preset=last7&affiliate_id=${refunded.partner}&status=approved`);
    await page.getByLabel(`Select ${refunded.id}`).check();
    await field(page.getByRole("group", { name: "Chosen rows" }), "Reason").fill("Sent back");
    await press(page, "Reject");
    await press(page, "Reject now");
    await page.getByText("Conversion of Pound shop rejected").first().waitFor();
    refunded.status = "rejected";
    const next = [];
    for (let sold = 0; sold < 2; sold += 1) {
      const terms = { code: refunded.offer, currency: "GBP" as const, isOpen: false };
      next.push(await sell(refunded.partner, terms));
    }
    await world.posted();
    await go(`/money/statements?affiliate_id=${refunded.partner}`);
    const [first] = await readTable(table());
    const carried = tenThousandths(first?.["Carried on"] ?? "");
    const total = carried - refunded.payout + sum(next, ({ payout }) => payout);
    await press(page, "Close periods");
    await choose(drawer(), "Partner", { sought: name });
    await field(drawer(), "Until").fill(dayFromNow(0));
    const words = inWords(cut(total), "GBP");
    await drawer().getByText(`1 draft with ${words}`).waitFor();
    await press(page, "Make the statements");
    await press(page, "Done");
    await page.locator("tbody tr").filter({ hasText: "Draft" }).getByRole("button").first().click();
    await page.getByRole("heading", { name: "Lines" }).waitFor();
    const lines = await readTable(table());
    expect(lines.map(({ Item, Count, Amount }) => [Item, Count, Amount])).toEqual(
      expect.arrayContaining([
        [`Clawback of ${first?.["Number"]}`, "1", inWords(-refunded.payout, "GBP")],
        [
          "Conversions",
          "2",
          inWords(
            sum(next, ({ payout }) => payout),
            "GBP",
          ),
        ],
      ]),
    );
    await page.getByText(inWords(total, "GBP"), { exact: true }).first().waitFor();
    await world.picture(page, "clawback");
  });

  test("balances, statements and payouts are the sums of the test, and the audit finds nothing (I1–I8)", async () => {
    await go("/money");
    const balances = await readTable(table());
    expect(balances).toHaveLength(PARTNERS + 2);
    for (const row of balances) {
      const currency = CURRENCIES.find((one) => one === row["Currency"]) ?? "USD";
      const partner = partnerNamed(row["Partner"] ?? "");
      const gone = paid.get(`${partner} ${currency}`) ?? 0n;
      const figure = (title: string): bigint => tenThousandths(row[title] ?? "");
      expect([row["Partner"], currency, figure("Paid")]).toEqual([row["Partner"], currency, gone]);
      expect(figure("Owed")).toBe(earned(partner, currency) - gone);
      const parts = ["Unbilled", "Carried", "Draft", "Approved", "In payout"];
      expect(sum(parts, figure)).toBe(figure("Owed"));
      expect([figure("Pending"), figure("In payout")]).toEqual([0n, 0n]);
    }
    await world.picture(page, "balances");
    await go("/money/payouts");
    const runs = await readTable(table());
    expect(runs.map((row) => [row["Currency"], row["Status"], row["Total"]])).toEqual(
      CURRENCIES.toReversed().map((currency) => [
        currency,
        "Paid",
        inWords(runTotals.get(currency) ?? 0n, currency),
      ]),
    );
    await world.picture(page, "payouts");
    await go("/money/settings");
    await press(page, "Check the books now");
    await page.getByText("Everything adds up.").waitFor();
    expect(await world.violations()).toEqual([]);
  });

  const partnerNamed = (name: string): number => {
    const [id] = [...names].find(([, one]) => one === name) ?? [];
    assert(id !== undefined, `${name} is a partner`);
    return id;
  };
});

function sum<Part>(parts: readonly Part[], amountOf: (part: Part) => bigint): bigint {
  return parts.reduce((total, part) => total + amountOf(part), 0n);
}

/** What can be paid of an amount above zero: whole coins. */
function cut(amount: bigint): bigint {
  return amount - (amount % 100n);
}

/** Such as 12.3456. */
function decimal(amount: bigint): string {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

function currencyIn(shown: string): Currency {
  if (shown.includes("€")) return "EUR";
  return shown.includes("£") ? "GBP" : "USD";
}

/** Of a line in which only the last cells are quoted. */
function cellsOf(line: string): string[] {
  return line.split(",");
}

import assert from "node:assert";
import { type MoneyWorld, wireTo } from "./money-world.ts";

export const CURRENCIES = ["USD", "EUR", "GBP"] as const;
export type Currency = (typeof CURRENCIES)[number];
export const PARTNERS = 20;
/** Of each partner: two that are approved at once, and one that waits for the advertiser. */
const PER_PARTNER = 3;
/** Who earns less than its minimum, and is in dollars. */
export const SMALL = "Small beer";

/** A conversion as the test knows it. */
type Sale = {
  readonly partner: number;
  readonly currency: Currency;
  readonly id: string;
  readonly order: string;
  readonly offer: string;
  payout: bigint;
  status: "approved" | "pending" | "rejected";
};
type Account = { readonly partner: number; readonly name: string };

/** What partners sold, and what is owed for it by sums of this class alone. Amounts are ten-thousandths. */
export class MonthBooks {
  readonly names = new Map<number, string>();
  readonly sales: Sale[] = [];
  readonly #world: MoneyWorld;

  constructor(world: MoneyWorld) {
    this.#world = world;
  }

  /** Offers, partners and conversions of a month. */
  async fill(): Promise<void> {
    const codes = await this.#offers();
    for (let at = 0; at < PARTNERS; at += 1) {
      const currency = CURRENCIES[at % 3] ?? "USD";
      const name = `Partner ${String(at + 1).padStart(2, "0")}`;
      // Those in pounds are due later.
      const terms = { payment_terms: currency === "GBP" ? "net60" : "monthly", currency };
      const wallet = {
        payment_method: "wallet_a",
        payment_details: { account: `p${at}@pay.example` },
      };
      const payment = currency === "USD" ? wallet : wireTo(`Holder ${at + 1}`, at);
      const partner = await this.#world.partner({ name, ...terms }, payment);
      this.names.set(partner, name);
      for (let sold = 0; sold < PER_PARTNER; sold += 1)
        await this.sell(partner, { code: codes[currency], currency, isOpen: sold === 2 });
      // One partner earns in two currencies, and has a statement of each.
      if (at === 0) await this.sell(partner, { code: codes.EUR, currency: "EUR", isOpen: false });
    }
    const small = { name: SMALL, payment_terms: "monthly", currency: "USD", min_payout: "50" };
    const partner = await this.#world.partner(small, wireTo("Small", 99));
    this.names.set(partner, SMALL);
    await this.sell(partner, { code: codes.USD, currency: "USD", isOpen: false });
  }

  async #offers(): Promise<Readonly<Record<Currency, string>>> {
    const rates = { payout_type: "cps", payout: "7.35", revenue_type: "rps", revenue: "11" };
    const [dollars, euros, pounds] = await Promise.all([
      this.#world.offer({ name: "Dollar shop", currency: "USD", payout: "12.3456", revenue: "20" }),
      this.#world.offer({ name: "Euro shop", currency: "EUR", ...rates }),
      this.#world.offer({ name: "Pound shop", currency: "GBP", payout: "8.005", revenue: "9.5" }),
    ]);
    return {
      USD: String(dollars["code"]),
      EUR: String(euros["code"]),
      GBP: String(pounds["code"]),
    };
  }

  /** A conversion by hand. What it earns is computed here: a fixed amount, or 7.35 % of the sale, half away from zero. */
  async sell(
    partner: number,
    { code, currency, isOpen }: { code: string; currency: Currency; isOpen: boolean },
  ): Promise<Sale> {
    const number = BigInt(this.sales.length + 1);
    const saleAmount = 400_000n + number * 13_337n;
    const payout = {
      USD: 123_456n,
      EUR: (saleAmount * 735n + 5_000n) / 10_000n,
      GBP: 80_050n,
    }[currency];
    const status = isOpen ? "pending" : "approved";
    const order = `ORDER-${number}`;
    const { id } = await this.#world.make("/conversions", {
      offer_id: code,
      affiliate_id: partner,
      status,
      adv_txid: order,
      sale_amount: decimal(saleAmount),
    });
    const sale: Sale = { partner, currency, id: String(id), order, offer: code, payout, status };
    this.sales.push(sale);
    return sale;
  }

  earned(partner: number, currency: Currency): bigint {
    const own = this.sales.filter(
      (sale) =>
        sale.partner === partner && sale.currency === currency && sale.status === "approved",
    );
    return sum(own, ({ payout }) => payout);
  }

  /** Accounts of those that are paid, in one currency. */
  accounts(currency: Currency): Account[] {
    return [...this.names]
      .filter(([partner, name]) => name !== SMALL && this.earned(partner, currency) > 0n)
      .map(([partner, name]) => ({ partner, name }));
  }

  payable(currency: Currency, of: readonly Account[] = this.accounts(currency)): bigint {
    return sum(of, ({ partner }) => cut(this.earned(partner, currency)));
  }

  partnerNamed(name: string): number {
    const [id] = [...this.names].find(([, one]) => one === name) ?? [];
    assert(id !== undefined, `${name} is a partner`);
    return id;
  }

  /**
   * What the advertiser says of what is open: it confirms most, four with another payout, and declines the last four. It declines one that
   * was approved, too. Returns rows of its file.
   */
  decide(): string[][] {
    const open = this.sales.filter(({ status }) => status === "pending");
    const rows = open.map((sale, at) => {
      sale.status = at < 16 ? "approved" : "rejected";
      const isCorrected = at >= 12 && at < 16;
      if (isCorrected) sale.payout = 101_010n + BigInt(at);
      const word = at < 16 ? "confirmed" : "declined";
      return [sale.offer, sale.order, word, isCorrected ? decimal(sale.payout) : ""];
    });
    const [fraud] = this.sales;
    assert(fraud !== undefined, "something is sold");
    fraud.status = "rejected";
    return [...rows, [fraud.offer, fraud.order, "declined", ""]];
  }
}

export function sum<Part>(parts: readonly Part[], amountOf: (part: Part) => bigint): bigint {
  return parts.reduce((total, part) => total + amountOf(part), 0n);
}

/** What can be paid of an amount above zero: whole coins. */
export function cut(amount: bigint): bigint {
  return amount - (amount % 100n);
}

/** Such as 12.3456. */
function decimal(amount: bigint): string {
  const digits = String(amount).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** Such as 12.34, of an amount of whole coins. */
export function coins(amount: bigint): string {
  assert(amount % 100n === 0n, "no coin is broken");
  return decimal(amount).slice(0, -2);
}

export function currencyIn(shown: string): Currency {
  if (shown.includes("€")) return "EUR";
  return shown.includes("£") ? "GBP" : "USD";
}

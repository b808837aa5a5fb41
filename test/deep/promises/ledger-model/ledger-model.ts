import { type Amount, formatAmount } from "../../../../schemas/money/amount.ts";
import { Documents } from "./documents.ts";
import { Payments } from "./payments.ts";

export type ModelStatus = "approved" | "pending" | "rejected";

export type ModelConversion = {
  readonly id: string;
  /** Undefined without a partner. */
  readonly partner: number | undefined;
  status: ModelStatus;
  payout: Amount;
  revenue: Amount;
};

export type ModelAdjustment = {
  readonly id: number;
  readonly partner: number;
  /** Positive means that the partner gets more. */
  readonly amount: Amount;
  /** Of a reversal, too: it is not reversed. */
  isReversed: boolean;
};

type Change = Partial<Pick<ModelConversion, "status" | "payout" | "revenue">>;

/** Percent of the second partner and of the advertiser; the first partner has no tax. */
export const PARTNER_TAX = 19n;
export const ADVERTISER_TAX = 20n;

/** What the books of a workspace must say, kept in big integers by none of the service's statements. */
export class LedgerModel {
  readonly conversions: ModelConversion[] = [];
  readonly adjustments: ModelAdjustment[] = [];
  /** By partner. */
  readonly statements: ReadonlyMap<number, Documents>;
  readonly invoices = new Documents({ taxPercent: ADVERTISER_TAX, isClosedWhenCarried: false });
  readonly payments = new Payments(this.invoices);
  /** By partner: what was paid to it, less what came back. */
  readonly paidOut = new Map<number, Amount>();

  constructor([first, second]: readonly [number, number]) {
    this.statements = new Map([
      [first, new Documents({ taxPercent: 0n, isClosedWhenCarried: true })],
      [second, new Documents({ taxPercent: PARTNER_TAX, isClosedWhenCarried: true })],
    ]);
  }

  convert(conversion: ModelConversion): void {
    this.conversions.push(conversion);
    if (conversion.status !== "approved") return;
    this.#note(conversion, conversion.payout, conversion.revenue);
  }

  change(conversion: ModelConversion, change: Change): void {
    const before = moneyOf(conversion);
    Object.assign(conversion, change);
    const after = moneyOf(conversion);
    this.#note(conversion, after.payout - before.payout, after.revenue - before.revenue);
  }

  adjust(adjustment: ModelAdjustment): void {
    this.adjustments.push(adjustment);
    this.statementsOf(adjustment.partner).add(adjustment.amount);
  }

  pay(partner: number, amount: Amount): void {
    this.paidOut.set(partner, (this.paidOut.get(partner) ?? 0n) + amount);
  }

  statementsOf(partner: number): Documents {
    const found = this.statements.get(partner);
    if (found === undefined) throw new Error(`partner ${partner} is not of the model`);
    return found;
  }

  /** What a partner has earned and not been paid, without tax. */
  owed(partner: number): Amount {
    const earned = this.#approved().filter((one) => one.partner === partner);
    const adjusted = this.adjustments.filter((one) => one.partner === partner);
    return sum(earned.map(({ payout }) => payout)) + sum(adjusted.map(({ amount }) => amount));
  }

  /** Balances by `kind owner currency`, accounts at 0 left out. */
  balances(advertiserId: number, partners: readonly number[]): Record<string, string> {
    const charged = sum(this.#approved().map(({ revenue }) => revenue));
    const cost = sum(
      this.#approved().map(({ partner, payout }) => (partner === undefined ? 0n : payout)),
    );
    const { received } = this.payments;
    const { invoices } = this;
    const taxIn = sum(partners.map((id) => this.statementsOf(id).taxed()));
    const paidOut = sum([...this.paidOut.values()]);
    const all: [string, Amount][] = [
      [
        "adjustment_cost EUR",
        sum(this.adjustments.map(({ amount }) => amount)) + invoices.credited(),
      ],
      [
        `advertiser_receivable ${advertiserId} EUR`,
        charged + invoices.taxed() - received - invoices.credited(),
      ],
      ["clearing EUR", received - paidOut],
      ...partners.map((id): [string, Amount] => [
        `partner_payable ${id} EUR`,
        (this.paidOut.get(id) ?? 0n) - this.owed(id) - this.statementsOf(id).taxed(),
      ]),
      ["payout_cost EUR", cost],
      ["revenue EUR", -charged],
      ["tax_in EUR", taxIn],
      ["tax_out EUR", -invoices.taxed()],
    ];
    return Object.fromEntries(
      all
        .filter(([, amount]) => amount !== 0n)
        .map(([name, amount]): [string, string] => [name, formatAmount(amount)])
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  #note({ partner }: ModelConversion, payout: Amount, revenue: Amount): void {
    if (partner !== undefined) this.statementsOf(partner).add(payout);
    this.invoices.add(revenue);
  }

  #approved(): ModelConversion[] {
    return this.conversions.filter(({ status }) => status === "approved");
  }
}

function moneyOf({
  status,
  payout,
  revenue,
}: ModelConversion): Record<"payout" | "revenue", Amount> {
  return status === "approved" ? { payout, revenue } : { payout: 0n, revenue: 0n };
}

function sum(amounts: readonly Amount[]): Amount {
  return amounts.reduce((all, amount) => all + amount, 0n);
}

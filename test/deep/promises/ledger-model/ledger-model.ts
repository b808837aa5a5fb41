import { type Amount, formatAmount } from "../../../../schemas/money/amount.ts";

export type ModelStatus = "approved" | "pending" | "rejected";

export type ModelConversion = {
  readonly id: string;
  /** Undefined without a partner. */
  readonly partner: number | undefined;
  status: ModelStatus;
  payout: Amount;
  revenue: Amount;
};

/** What the books of a workspace must say, kept in big integers by none of the service's statements. */
export class LedgerModel {
  readonly conversions: ModelConversion[] = [];
  /** Partner and amount; positive means that the partner gets more. */
  readonly adjustments: { readonly partner: number; readonly amount: Amount }[] = [];

  /** What is owed to a partner. */
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
    const all: [string, Amount][] = [
      ["adjustment_cost EUR", sum(this.adjustments.map(({ amount }) => amount))],
      [`advertiser_receivable ${advertiserId} EUR`, charged],
      ...partners.map((id): [string, Amount] => [`partner_payable ${id} EUR`, -this.owed(id)]),
      ["payout_cost EUR", cost],
      ["revenue EUR", -charged],
    ];
    return Object.fromEntries(
      all
        .filter(([, amount]) => amount !== 0n)
        .map(([name, amount]) => [name, formatAmount(amount)]),
    );
  }

  #approved(): ModelConversion[] {
    return this.conversions.filter(({ status }) => status === "approved");
  }
}

function sum(amounts: readonly Amount[]): Amount {
  return amounts.reduce((all, amount) => all + amount, 0n);
}

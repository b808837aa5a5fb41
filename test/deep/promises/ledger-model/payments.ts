import type { Amount } from "../../../../schemas/money/amount.ts";
import type { Documents, ModelDocument } from "./documents.ts";

export type ModelPayment = {
  readonly id: number;
  readonly amount: Amount;
  isReversed: boolean;
};

type Cover = { readonly payment: number; readonly invoice: number; readonly amount: Amount };

/** What the advertiser paid, and which invoices it covers: oldest payment first, oldest invoice first. */
export class Payments {
  readonly #invoices: Documents;
  readonly list: ModelPayment[] = [];
  #covers: Cover[] = [];

  constructor(invoices: Documents) {
    this.#invoices = invoices;
  }

  get received(): Amount {
    return sum(this.list.map(({ amount, isReversed }) => (isReversed ? 0n : amount)));
  }

  /** After a payment, an approval, a credit note or the reversal of a payment. */
  cover(): void {
    const isKept = ({ payment, invoice }: Cover): boolean =>
      this.list.some(({ id, isReversed }) => id === payment && !isReversed) &&
      this.#open().some(({ id }) => id === invoice);
    this.#covers = this.#covers.filter(isKept);
    for (const payment of this.list.filter(({ isReversed }) => !isReversed))
      for (const invoice of this.#open()) this.#coverOne(payment, invoice);
  }

  /** What is paid of an invoice. */
  paid(invoiceId: number): Amount {
    return sum(this.#covers.map(({ invoice, amount }) => (invoice === invoiceId ? amount : 0n)));
  }

  #coverOne({ id: payment, amount: all }: ModelPayment, { id, payable, tax }: ModelDocument): void {
    const used = sum(this.#covers.map((one) => (one.payment === payment ? one.amount : 0n)));
    const due = payable + tax - this.paid(id);
    const amount = due < all - used ? due : all - used;
    if (amount > 0n) this.#covers.push({ payment, invoice: id, amount });
  }

  #open(): ModelDocument[] {
    return this.#invoices.chain.filter(({ status }) => status === "approved");
  }
}

function sum(amounts: readonly Amount[]): Amount {
  return amounts.reduce((all, amount) => all + amount, 0n);
}

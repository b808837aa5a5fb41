import { type Amount, formatAmount } from "../../../../schemas/money/amount.ts";

/** A statement or an invoice. */
export type ModelDocument = {
  readonly id: number;
  status: "draft" | "carried" | "approved" | "in_payout" | "paid" | "credited";
  readonly carriedIn: Amount;
  readonly total: Amount;
  readonly payable: Amount;
  readonly tax: Amount;
  readonly carriedOut: Amount;
  /** What was there when it was closed, to go back to. */
  readonly moved: Amount;
  readonly moves: number;
};

/** How a document is written in the tables: status, carried_in, total, payable, tax, carried_out. */
export type DocumentText = readonly string[];

type Kind = {
  readonly taxPercent: bigint;
  /** Whether what was carried and can now be paid makes a document by itself. */
  readonly isClosedWhenCarried: boolean;
};

const CENT = 100n;

/** The chain of documents of one account, and what is on none yet. */
export class Documents {
  readonly #kind: Kind;
  readonly chain: ModelDocument[] = [];
  minimum = 0n;
  /** Sum and number of the entries on no document. */
  #moved = 0n;
  #moves = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** An entry of 0 does not exist. */
  add(amount: Amount): void {
    if (amount === 0n) return;
    this.#moved += amount;
    this.#moves += 1;
  }

  /** What closing now makes; undefined for nothing. */
  next(): Omit<ModelDocument, "id"> | undefined {
    const carriedIn = this.chain.at(-1)?.carriedOut ?? 0n;
    const total = carriedIn + this.#moved;
    const coins = total > 0n ? (total / CENT) * CENT : 0n;
    const isPaid = coins > 0n && total >= this.minimum;
    if (this.#moves === 0 && !(isPaid && this.#kind.isClosedWhenCarried)) return undefined;
    const payable = isPaid ? coins : 0n;
    return {
      status: isPaid ? "draft" : "carried",
      carriedIn,
      total,
      payable,
      tax: this.#taxOn(payable),
      carriedOut: total - payable,
      moved: this.#moved,
      moves: this.#moves,
    };
  }

  close(document: ModelDocument): void {
    this.chain.push(document);
    this.#moved = 0n;
    this.#moves = 0;
  }

  /** Takes back the newest one. */
  void(): void {
    const last = this.chain.pop();
    this.#moved += last?.moved ?? 0n;
    this.#moves += last?.moves ?? 0;
  }

  /** Tax that was posted and not taken back. */
  taxed(): Amount {
    return this.#sum(({ status, tax }) => (isApproved(status) ? tax : 0n));
  }

  /** What credit notes took back, without tax. */
  credited(): Amount {
    return this.#sum(({ status, payable }) => (status === "credited" ? payable : 0n));
  }

  texts(): DocumentText[] {
    return this.chain.map((one) => textOf(one, one.status));
  }

  /** Half a cent is rounded up; what is taxed is above 0. */
  #taxOn(payable: Amount): Amount {
    const hundredths = payable * this.#kind.taxPercent;
    return ((hundredths + 50n * CENT) / (100n * CENT)) * CENT;
  }

  #sum(amountOf: (document: ModelDocument) => Amount): Amount {
    return this.chain.reduce((all, one) => all + amountOf(one), 0n);
  }
}

export function textOf(document: Omit<ModelDocument, "id">, status: string): DocumentText {
  const { carriedIn, total, payable, tax, carriedOut } = document;
  return [status, ...[carriedIn, total, payable, tax, carriedOut].map(formatAmount)];
}

function isApproved(status: ModelDocument["status"]): boolean {
  return status === "approved" || status === "in_payout" || status === "paid";
}

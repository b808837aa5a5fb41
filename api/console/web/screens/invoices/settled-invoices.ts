import type { Invoice } from "./invoice.ts";

export type Settled = {
  readonly invoices: readonly {
    readonly id: number;
    readonly number: string;
    readonly open: string;
    readonly covered: string;
    readonly isNamed: boolean;
  }[];
  /** What the payment has left. */
  readonly rest: string;
};

const DIGITS = 4;
const AMOUNT = /^(\d{1,14})(?:\.(\d{1,4}))?$/;

/** What a payment will cover of open invoices that come oldest first: the named ones, then the others, as the API does it. */
export function settledBy(
  invoices: readonly Pick<Invoice, "id" | "number" | "open">[],
  amount: string,
  named: readonly number[],
): Settled {
  let left = unitsOf(amount.trim());
  const covered = new Map<number, bigint>();
  const inOrder = [
    ...named.flatMap((id) => invoices.filter((one) => one.id === id)),
    ...invoices.filter(({ id }) => !named.includes(id)),
  ];
  for (const { id, open } of inOrder) {
    const due = unitsOf(open);
    const part = due < left ? due : left;
    covered.set(id, part);
    left -= part;
  }
  return {
    invoices: invoices.map(({ id, number, open }) => ({
      id,
      number: number ?? "",
      open,
      covered: textOf(covered.get(id) ?? 0n),
      isNamed: named.includes(id),
    })),
    rest: textOf(left),
  };
}

/** In ten-thousandths; 0 for a text that is not an amount yet. */
function unitsOf(text: string): bigint {
  const [, whole = "0", fraction = ""] = AMOUNT.exec(text) ?? [];
  return BigInt(whole + fraction.padEnd(DIGITS, "0"));
}

function textOf(units: bigint): string {
  const digits = units.toString().padStart(DIGITS + 1, "0");
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}

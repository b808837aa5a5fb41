import type { Amount } from "../../../../schemas/money/amount.ts";
import type { Pool } from "../../../../schemas/postgres/connect.ts";
import type { Books } from "../../../integration/billing/books.ts";
import type { Calls } from "./calls.ts";
import type { LedgerModel } from "./ledger-model.ts";
import type { ModelRun } from "./model-run.ts";

/** The books of a workspace, what they must say, and the ways to change them. */
export type Sequence = {
  readonly books: Books;
  readonly calls: Calls;
  /** Connections that are ended at any moment. */
  readonly pool: Pool;
  readonly model: LedgerModel;
  readonly runs: ModelRun[];
  /** A whole number below its argument, by the seed. */
  readonly roll: (below: number) => number;
};

/** Does something to the books, and the same to the model. */
export type Command = (sequence: Sequence) => Promise<void>;

export const CURRENCY = "EUR";
/** Ten-thousandths. */
const AMOUNT_MAX = 1_000_000;

/** Sometimes nothing, sometimes the smallest amount. */
export function amount(roll: Sequence["roll"]): Amount {
  return BigInt([0, 1, roll(AMOUNT_MAX), roll(AMOUNT_MAX), roll(AMOUNT_MAX)][roll(5)] ?? 0);
}

export function anyOf<T>(roll: Sequence["roll"], items: readonly T[]): T | undefined {
  return items[roll(items.length)];
}

/** Mostly one that the command has an effect on, sometimes any, which refuses it. */
export function mostly<T>(
  roll: Sequence["roll"],
  items: readonly T[],
  isOpen: (item: T) => boolean,
): T | undefined {
  const open = items.filter(isOpen);
  return open.length > 0 && roll(5) > 0 ? anyOf(roll, open) : anyOf(roll, items);
}

/** Fails with all that was said. */
export function equal(what: string, said: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(said), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${a}, and the model says ${b}`);
}

import { type Amount, formatAmount } from "../money/amount.ts";
import type { Queryable } from "../postgres/connect.ts";

/** Accounts of a workspace. The first two have an owner: a partner, an advertiser. */
export type AccountKind =
  | "partner_payable"
  | "advertiser_receivable"
  | "revenue"
  | "payout_cost"
  | "adjustment_cost"
  | "clearing"
  | "tax_in"
  | "tax_out";

/** Kinds of transactions. */
export type TransactionKind =
  | "conversion"
  | "clicks"
  | "adjustment"
  | "write_off"
  | "statement_tax"
  | "invoice_tax"
  | "payout"
  | "payout_return"
  | "payment"
  | "credit_note";

/** Entries that settle a statement or add tax to it. They are on no statement themselves (N48). */
export const SETTLING_KINDS = ["statement_tax", "payout", "payout_return"] as const;

export type LedgerEntry = {
  readonly account: AccountKind;
  /** 0 for accounts of the network itself. */
  readonly ownerId: number;
  readonly currency: string;
  /** Debits are positive, credits negative; never 0. */
  readonly amount: Amount;
  readonly conversionId?: string | undefined;
  readonly offerId?: number | undefined;
  readonly eventCode?: string | undefined;
  /** How many conversions or clicks this is; negative where they are taken back. */
  readonly count?: number;
};

export type LedgerTransaction = {
  readonly kind: TransactionKind;
  /** With `sourceId` the fact that is posted. A fact is posted once. */
  readonly sourceKind: string;
  readonly sourceId: string;
  readonly description?: string;
  readonly reversesId?: number | undefined;
  readonly keyId?: number | undefined;
  readonly personId?: number | undefined;
  readonly entries: readonly LedgerEntry[];
};

export type PostedTransaction = {
  readonly source_kind: string;
  readonly source_id: string;
  readonly transaction_id: number;
};

/**
 * Posts transactions of one workspace; answers those that were not posted before. Call it once in a transaction of the database, with all that
 * the transaction posts: a call locks its accounts in one order.
 */
export async function postLedger(
  db: Queryable,
  workspaceId: number,
  transactions: readonly LedgerTransaction[],
): Promise<readonly PostedTransaction[]> {
  if (transactions.length === 0) return [];
  const { rows } = await db.query<PostedTransaction>({
    name: "post-ledger",
    text: "select source_kind, source_id, transaction_id from post_ledger($1, $2)",
    values: [workspaceId, JSON.stringify(transactions.map(storedTransaction))],
  });
  return rows;
}

function storedTransaction(transaction: LedgerTransaction): Record<string, unknown> {
  const { kind, sourceKind, sourceId, description, reversesId, keyId, personId, entries } =
    transaction;
  return {
    kind,
    source_kind: sourceKind,
    source_id: sourceId,
    description,
    reverses_id: reversesId,
    key_id: keyId,
    person_id: personId,
    entries: entries.map((entry) => ({
      account: entry.account,
      owner_id: entry.ownerId,
      currency: entry.currency,
      amount: formatAmount(entry.amount),
      conversion_id: entry.conversionId,
      offer_id: entry.offerId,
      event_code: entry.eventCode,
      count: entry.count,
    })),
  };
}

import type { Pool } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { closeAccount } from "./close-receivable.ts";
import type { CloseScope } from "./close-scope.ts";
import type { Invoice } from "./read-invoices.ts";
import { listReceivables } from "./receivables.ts";

const ACCOUNTS_PER_PAGE = 100;

export type ClosedInvoices = {
  readonly invoices: readonly Invoice[];
  /** False if accounts were left out because of `invoicesMax`. */
  readonly isComplete: boolean;
};

/** Ends a transaction without its effects. */
class DryRunEnd extends Error {
  override readonly name = "DryRunEnd";
}

/**
 * Closes the ended periods of what advertisers owe (N58): one transaction an account, so that a process that dies leaves each account closed or
 * not, and the next call goes on. Safe to run twice and at the same time.
 */
export async function closeInvoices(
  pool: Pool,
  scope: CloseScope,
  signal?: AbortSignal,
): Promise<ClosedInvoices> {
  const invoices: Invoice[] = [];
  for (let afterId = 0; ; ) {
    const accounts = await listReceivables(pool, scope, { afterId, rowsMax: ACCOUNTS_PER_PAGE });
    for (const account of accounts) {
      if (signal?.aborted === true || invoices.length >= scope.invoicesMax)
        return { invoices, isComplete: false };
      invoices.push(...(await closed(pool, account.id, scope)));
      afterId = account.id;
    }
    if (accounts.length < ACCOUNTS_PER_PAGE) return { invoices, isComplete: true };
  }
}

async function closed(
  pool: Pool,
  accountId: number,
  scope: CloseScope,
): Promise<readonly Invoice[]> {
  let found: readonly Invoice[] = [];
  try {
    await inTransaction(pool, async (tx) => {
      found = await closeAccount(tx, accountId, scope);
      if (scope.isDryRun) throw new DryRunEnd();
    });
  } catch (error) {
    if (!(error instanceof DryRunEnd)) throw error;
  }
  return found;
}

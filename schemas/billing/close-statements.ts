import type { Pool, Queryable } from "../postgres/connect.ts";
import { inTransaction } from "../postgres/transaction.ts";
import { type Books, closeAccount, type MadeStatement } from "./close-account.ts";
import { type CloseLimits, nextPeriods } from "./next-period.ts";
import { readPartnerAccounts } from "./partner-accounts.ts";

const PAGE_ROWS = 500;

export type Closing = CloseLimits & {
  readonly books: Books;
  readonly affiliateId?: number | undefined;
  /** Nothing is kept: what would be made is made and rolled back, so that a preview cannot differ. */
  readonly isDryRun?: boolean;
  /** Accounts with something to close; more of them wait for the next call. */
  readonly accountsMax: number;
  readonly signal?: AbortSignal;
};

export type Closed = {
  readonly made: MadeStatement[];
  /** There are further accounts. */
  readonly hasMore: boolean;
};

/** Closes what is due, account by account, each in transactions of its own. */
export async function closeStatements(pool: Pool, closing: Closing): Promise<Closed> {
  const { books, accountsMax, affiliateId, signal } = closing;
  const made: MadeStatement[] = [];
  let accounts = 0;
  let afterId = 0;
  for (;;) {
    const page = { afterId, rowsMax: PAGE_ROWS, affiliateId };
    const rows = await readPartnerAccounts(pool, books.workspaceId, page);
    for (const account of rows) {
      if (nextPeriods(account, books.zone, closing).length === 0) continue;
      if (accounts === accountsMax || signal?.aborted === true) return { made, hasMore: true };
      accounts += 1;
      made.push(...(await closeOne(pool, account.accountId, closing)));
    }
    afterId = rows.at(-1)?.accountId ?? afterId;
    if (rows.length < PAGE_ROWS) return { made, hasMore: false };
  }
}

async function closeOne(
  pool: Pool,
  accountId: number,
  { books, isDryRun = false, ...limits }: Closing,
): Promise<MadeStatement[]> {
  const close = async (tx: Queryable): Promise<MadeStatement[]> =>
    await closeAccount(tx, books, accountId, limits);
  if (isDryRun) return await rolledBack(pool, close);
  const made: MadeStatement[] = [];
  for (;;) {
    const some = await inTransaction(pool, close);
    if (some.length === 0) return made;
    made.push(...some);
  }
}

class RolledBack extends Error {
  override readonly name = "RolledBack";
}

async function rolledBack<T extends object>(
  pool: Pool,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  let result: T | undefined;
  try {
    await inTransaction(pool, async (tx) => {
      result = await work(tx);
      throw new RolledBack("a transaction is rolled back on purpose");
    });
  } catch (error) {
    if (error instanceof RolledBack && result !== undefined) return result;
    throw error;
  }
  throw new Error("a preview was committed");
}

import type { Pool, Queryable, Statement } from "./connect.ts";
import { retryConflicts } from "./retry-conflicts.ts";

/**
 * Runs `work` in one transaction and returns after the commit. Repeats it after a conflict with another transaction (40001, 40P01), so
 * `work` must have no effects outside the transaction. Rethrows everything else after a rollback.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  // What holds the other side up may be a lock of the outer transaction, which only its own end frees.
  if (WITHIN.has(pool)) return await once(pool, work);
  return await retryConflicts(() => once(pool, work));
}

/** Pools of {@link poolWithin}. */
const WITHIN = new WeakSet<Pool>();

const BEGIN = "begin";
const COMMIT = "commit";
const ROLLBACK = "rollback";

/** Nested transactions: a savepoint that is released afterwards, so nested ones can share its name. */
const NESTED = new Map([
  [BEGIN, "savepoint nested"],
  [COMMIT, "release savepoint nested"],
  [ROLLBACK, "rollback to savepoint nested; release savepoint nested"],
]);

/**
 * A pool inside a transaction: {@link inTransaction} with it runs within `tx`, and a rollback undoes only that part. Everything becomes
 * visible when `tx` commits. A conflict with another transaction is not tried again inside: whoever began `tx` repeats all of it.
 */
export function poolWithin(tx: Queryable): Pool {
  const nested = (statement: Statement): Statement => ({
    ...statement,
    text: NESTED.get(statement.text) ?? statement.text,
  });
  const pool: Pool = {
    query: async (statement) => await tx.query(statement),
    connect: async () =>
      await Promise.resolve({
        query: async (statement) => await tx.query(nested(statement)),
        // `tx` owns the connection: it closes it and handles its errors.
        release: () => undefined,
      }),
    end: async () => await Promise.resolve(),
    onIdleError: () => undefined,
  };
  WITHIN.add(pool);
  return pool;
}

async function once<T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query({ text: BEGIN });
    const result = await work(connection);
    await connection.query({ text: COMMIT });
    return result;
  } catch (error) {
    await connection.query({ text: ROLLBACK }).catch((rollbackError: unknown) => {
      // A connection that cannot roll back must not be used again.
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

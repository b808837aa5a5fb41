import type { Pool, Queryable, Statement } from "./connect.ts";
import { retryConflicts } from "./retry-conflicts.ts";

/**
 * Runs `work` in one transaction and answers after the commit. Repeats it when another transaction was in the way
 * (40001, 40P01), so `work` must do nothing outside of the transaction. Rethrows everything else after a rollback.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return await retryConflicts(() => once(pool, work));
}

const BEGIN = "begin";
const COMMIT = "commit";
const ROLLBACK = "rollback";

/** Inside of a transaction: a savepoint that is gone afterwards, so that savepoints within each other share a name. */
const NESTED = new Map([
  [BEGIN, "savepoint nested"],
  [COMMIT, "release savepoint nested"],
  [ROLLBACK, "rollback to savepoint nested; release savepoint nested"],
]);

/**
 * A pool for work inside of a transaction: whatever calls {@link inTransaction} with it does so within `tx`, and a rollback
 * takes back that part only. Everything becomes visible when `tx` commits.
 */
export function poolWithin(tx: Queryable): Pool {
  const nested = (statement: Statement): Statement => ({
    ...statement,
    text: NESTED.get(statement.text) ?? statement.text,
  });
  return {
    query: async (statement) => await tx.query(statement),
    connect: async () =>
      await Promise.resolve({
        query: async (statement) => await tx.query(nested(statement)),
        // The connection belongs to `tx`, as do its end and its faults.
        release: () => undefined,
      }),
    end: async () => await Promise.resolve(),
    onIdleError: () => undefined,
  };
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
      // A connection that cannot roll back is not handed to anybody else.
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

import type { Pool, Queryable } from "./connect.ts";
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

async function once<T>(pool: Pool, work: (db: Queryable) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  let broken: Error | undefined;
  try {
    await connection.query({ text: "begin" });
    const result = await work(connection);
    await connection.query({ text: "commit" });
    return result;
  } catch (error) {
    await connection.query({ text: "rollback" }).catch((rollbackError: unknown) => {
      // A connection that cannot roll back is not handed to anybody else.
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

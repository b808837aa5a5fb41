import type { Pool } from "../../../schemas/postgres/connect.ts";
import { until } from "../../system/until.ts";

const LOCKS = {
  api_key: "lock table api_key in access exclusive mode",
  affiliate: "lock table affiliate in access exclusive mode",
  idempotent_answer: "lock table idempotent_answer in exclusive mode",
  rate_window: "lock table rate_window in access exclusive mode",
  session: "lock table session in share row exclusive mode",
};

/** Locks a table for all other connections while `work` runs. */
export async function whileTableIsLocked<T>(
  pool: Pool,
  table: keyof typeof LOCKS,
  work: () => Promise<T>,
): Promise<T> {
  const holder = await pool.connect();
  await holder.query({ text: "set idle_in_transaction_session_timeout = 0" });
  await holder.query({ text: "begin" });
  await holder.query({ text: LOCKS[table] });
  try {
    return await work();
  } finally {
    await holder.query({ text: "rollback" });
    holder.release(new Error("its settings are changed"));
  }
}

/**
 * Runs one statement, and `begin` before it is committed. Answers what `begin` has started, so that it can be awaited after the commit: wrap a
 * promise, which would be awaited before.
 */
export async function whileUncommitted<T>(
  pool: Pool,
  [text, ...values]: readonly [string, ...unknown[]],
  begin: () => Promise<T>,
): Promise<T> {
  const holder = await pool.connect();
  try {
    await holder.query({ text: "begin" });
    await holder.query({ text, values });
    const begun = await begin();
    await holder.query({ text: "commit" });
    return begun;
  } finally {
    holder.release(new Error("it may be in a transaction"));
  }
}

/** Settles when this many statements in the database wait for a lock. */
export async function untilWaiting(pool: Pool, statements: number): Promise<void> {
  const count = async (): Promise<boolean> => {
    const { rows } = await pool.query({
      text: "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    });
    return rows.length === statements;
  };
  await until(`${statements} statements wait for a lock`, count, { pollMs: 5 });
}

import type { Pool } from "../../../schemas/postgres/connect.ts";

const LOCKS = {
  api_key: "lock table api_key in access exclusive mode",
  affiliate: "lock table affiliate in access exclusive mode",
  rate_window: "lock table rate_window in access exclusive mode",
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

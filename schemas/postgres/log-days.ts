import type { Queryable } from "./connect.ts";

/** If the scheduler is away for longer, rows go to the default partition. None is lost. */
const DAYS_AHEAD = 14;

/** Creates the partitions of the inbound log for the next days. Safe to run twice and concurrently. Returns how many it created. */
export async function makeLogDays(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: "make-postback-log-days",
    text: "select make_postback_log_days($1) as made",
    values: [DAYS_AHEAD],
  });
  return rows[0]?.made ?? 0;
}

import type { Queryable } from "./connect.ts";

/** A scheduler that is away for as long leaves rows to the partition without a range, and loses none. */
const DAYS_AHEAD = 14;

/** Makes the partitions of the inbound log for the next days. Safe to run twice and at once. Returns how many it made. */
export async function makeLogDays(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: "make-postback-log-days",
    text: "select make_postback_log_days($1) as made",
    values: [DAYS_AHEAD],
  });
  return rows[0]?.made ?? 0;
}

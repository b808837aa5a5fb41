import type { Queryable } from "../../schemas/postgres/connect.ts";

/** One statement; small enough that nobody waits behind it. */
const ROWS_A_STATEMENT = 5_000;
/** What one run takes away at most, of each table; the next run goes on. */
const STATEMENTS_MAX = 200;

/**
 * G178, G177, the log of deliveries, the day for which addresses count (G101), keys of reports (G203), and marks of the catalog. Of those the newest one that
 * is old enough stays: it was the position of every reader until the next was written.
 */
const STATEMENTS = [
  {
    name: "forget-postback-log",
    text: `delete from postback_log where id in (
             select id from postback_log where ts < clock_timestamp() - interval '30 days' limit $1)`,
  },
  {
    name: "forget-audit-log",
    text: `delete from audit_log where id in (
             select id from audit_log where ts < clock_timestamp() - interval '400 days' limit $1)`,
  },
  {
    name: "forget-deliveries",
    text: `delete from delivery where id in (
             select id from delivery where finished_at < now() - interval '30 days' limit $1)`,
  },
  {
    name: "forget-catalog-marks",
    text: `delete from catalog_log where version in (
             select version from catalog_log
             where version < greatest(
               (select max(version) from catalog_log where logged_at < clock_timestamp() - interval '7 days'),
               (select version from catalog_log order by version desc offset 999999 limit 1))
             order by version limit $1)`,
  },
  {
    name: "forget-conversion-addresses",
    text: `delete from conversion_address where ctid in (
             select ctid from conversion_address where conv_ts < clock_timestamp() - interval '26 hours' limit $1)`,
  },
  {
    name: "forget-report-keys",
    text: `delete from report_key where ctid in (
             select ctid from report_key where created_at < clock_timestamp() - interval '7 days' limit $1)`,
  },
] as const;

/** Deletes what has been kept for its time; answers how many rows. Ends early with `signal`. */
export async function forgetOldRows(db: Queryable, signal: AbortSignal): Promise<number> {
  let forgotten = 0;
  for (const statement of STATEMENTS) {
    for (let times = 0; times < STATEMENTS_MAX && !signal.aborted; times += 1) {
      const { rowCount } = await db.query({ ...statement, values: [ROWS_A_STATEMENT] });
      forgotten += rowCount ?? 0;
      if ((rowCount ?? 0) < ROWS_A_STATEMENT) break;
    }
  }
  return forgotten;
}

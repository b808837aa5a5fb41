import { forgetOldProcesses } from "../../schemas/installation/heartbeat.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Rows of one statement; small enough that others wait only briefly for its locks. */
const ROWS_PER_STATEMENT = 5_000;
/** Longest time of one run; the next run continues. Shorter than the lease of the task. */
const RUN_MS = 8 * 60_000;

/**
 * The logs of G178, G177 and deliveries, the addresses counted in a day (G101), idempotency keys (G203, N5), ended imports, counters of caps, and
 * versions of the catalog log. The newest of the old versions stays, because every reader was at it until the next one was written.
 */
const STATEMENTS = [
  {
    name: "forget-postback-log",
    text: "select forget_other_postback_log(30, $1) as rows",
  },
  {
    name: "forget-audit-log",
    text: `delete from audit_log where id in (
             select id from audit_log where ts < now() - interval '400 days' limit $1)`,
  },
  {
    name: "forget-changes",
    text: `delete from change_log where id in (
             select id from change_log where at < now() - interval '3 years' limit $1)`,
  },
  {
    name: "forget-deliveries",
    // A postback that was held back because its conversion was rejected has not fired: its next approval may queue it again.
    text: `with gone as (
             delete from delivery where finished_at < now() - interval '30 days' and id in (
               select id from delivery where finished_at < now() - interval '30 days' limit $1)
             returning id, conversion_id, endpoint_id, trigger, status, error),
           unfired as (
             delete from postback_firing f using gone g
             where f.conversion_id = g.conversion_id and f.postback_id = g.endpoint_id and f.trigger = g.trigger
               and f.delivery_id = g.id and g.status = 'failed' and g.error = 'conversion rejected')
           select count(*)::integer as rows from gone`,
  },
  {
    name: "forget-catalog-marks",
    text: `delete from catalog_log where version in (
             select version from catalog_log
             where version < greatest(
               (select max(version) from catalog_log where logged_at < now() - interval '7 days'),
               (select version from catalog_log order by version desc offset 999999 limit 1))
             order by version limit $1)`,
  },
  {
    // Every reader either is at a mark of the log, and so has these deletions, or reads everything again and compares.
    name: "forget-catalog-deletions",
    text: `delete from catalog_tombstone where version in (
             select version from catalog_tombstone
             where version < (select min(version) from catalog_log) order by version limit $1)`,
  },
  {
    name: "forget-coupon-clicks-passed",
    text: `delete from coupon_click_passed where (click_id, producer) in (
             select click_id, producer from coupon_click_passed
             where added_at < now() - interval '400 days' limit $1)`,
  },
  {
    name: "forget-conversion-addresses",
    text: `delete from conversion_address where ctid in (
             select ctid from conversion_address where conv_ts < now() - interval '26 hours' limit $1)`,
  },
  {
    name: "forget-report-keys",
    text: `delete from report_key where ctid in (
             select ctid from report_key where created_at < now() - interval '7 days' limit $1)`,
  },
  {
    name: "forget-idempotent-answers",
    text: `delete from idempotent_answer where (workspace_id, key) in (
             select workspace_id, key from idempotent_answer where created_at < now() - interval '30 days' limit $1)`,
  },
  {
    name: "forget-imports",
    text: `delete from import where id in (
             select id from import where ended_at < now() - interval '30 days' limit $1)`,
  },
  {
    // With its rows, so few at a time.
    name: "forget-conversion-updates",
    text: `delete from conversion_update where id in (
             select id from conversion_update
             where ended_at < now() - interval '90 days' or (status = 'checked' and created_at < now() - interval '30 days')
             limit least($1, 2))`,
  },
  {
    // A conversion may be 400 days old (G89), and its month has begun up to 31 days earlier.
    name: "forget-cap-counters",
    text: `delete from cap_counter where (cap, bucket_start) in (
             select cap, bucket_start from cap_counter
             where bucket_start > '-infinity' and bucket_start < now() - interval '435 days' limit $1)`,
  },
  {
    name: "forget-click-money",
    text: `delete from cap_click_money where (cap, bucket_start, offer_id) in (
             select cap, bucket_start, offer_id from cap_click_money
             where bucket_start > '-infinity' and bucket_start < now() - interval '435 days' limit $1)`,
  },
] as const;

/**
 * Deletes rows whose retention is over. Ends early with `signal`. Returns the number of rows; the days of the inbound log, which are
 * dropped as partitions, are not counted.
 */
export async function forgetOldRows(db: Queryable, signal: AbortSignal): Promise<number> {
  const untilMs = performance.now() + RUN_MS;
  let forgotten = 0;
  for (const statement of STATEMENTS)
    forgotten += await repeat(db, statement, [], { signal, untilMs });
  forgotten += await forgetOldProcesses(db);
  // Last, because it fails while a long statement reads the log. The next run then repeats it.
  await db.query({ name: "drop-postback-log-days", text: "select drop_postback_log_days(30)" });
  return forgotten;
}

/** Clears the visitor data of conversions older than `days` (CONVERSION_RETENTION_DAYS). Returns the number of rows. */
export async function forgetVisitors(
  db: Queryable,
  { days, signal }: { readonly days: number; readonly signal: AbortSignal },
): Promise<number> {
  const statement = {
    name: "forget-visitors-of-conversions",
    text: "select forget_visitors_of_conversions($2, $1) as rows",
  };
  return await repeat(db, statement, [days], { signal, untilMs: performance.now() + RUN_MS });
}

/** Repeats a statement until it finds fewer rows than its limit, or until the time is over. */
async function repeat(
  db: Queryable,
  statement: { readonly name: string; readonly text: string },
  values: readonly unknown[],
  { signal, untilMs }: { readonly signal: AbortSignal; readonly untilMs: number },
): Promise<number> {
  let all = 0;
  for (;;) {
    const { rows, rowCount } = await db.query<{ rows: number }>({
      ...statement,
      values: [ROWS_PER_STATEMENT, ...values],
    });
    // A function returns the number of rows as a value; a `delete` only has its row count.
    const found = rows[0]?.rows ?? rowCount ?? 0;
    all += found;
    if (found < ROWS_PER_STATEMENT || signal.aborted || performance.now() > untilMs) return all;
  }
}

import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A task that one process does at a time, and not again before `everyMs` have passed since it was done. */
export type TaskLease = {
  readonly name: string;
  readonly owner: string;
  readonly everyMs: number;
  /** How long the others wait for an owner that says nothing. */
  readonly leaseMs: number;
};

/**
 * Whether the task is due and nobody else's. Times are those of the server; one in the future, or a lease that is a minute longer than it
 * can be, is of a clock that was ahead and went back, and holds nobody up. A process leases a task one at a time, so a lease of its own that
 * is still there belongs to a round that failed, or comes from a Postgres that was restored: `everyMs` after it was taken the task is
 * due again.
 */
export async function leaseTask(db: Queryable, lease: TaskLease): Promise<boolean> {
  await db.query({
    name: "add-schedule-task",
    text: "insert into schedule_task (name) values ($1) on conflict do nothing",
    values: [lease.name],
  });
  const { rowCount } = await db.query({
    name: "lease-schedule-task",
    text: `update schedule_task
           set owner = $2, expires_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
           where name = $1
             and (expires_at < clock_timestamp()
               or expires_at > clock_timestamp() + $3::bigint * interval '1 millisecond' + interval '1 minute'
               or owner = $2 and expires_at <= clock_timestamp() + ($3::bigint - $4::bigint) * interval '1 millisecond')
             and (done_at <= clock_timestamp() - $4::bigint * interval '1 millisecond' or done_at > clock_timestamp())`,
    values: [lease.name, lease.owner, lease.leaseMs, lease.everyMs],
  });
  return rowCount === 1;
}

/** Done, for as long as `everyMs`. Says nothing of a task that another process has taken over meanwhile. */
export async function finishTask(
  db: Queryable,
  { name, owner }: Pick<TaskLease, "name" | "owner">,
): Promise<void> {
  await db.query({
    name: "finish-schedule-task",
    text: `update schedule_task set done_at = clock_timestamp(), expires_at = '-infinity'
           where name = $1 and owner = $2`,
    values: [name, owner],
  });
}

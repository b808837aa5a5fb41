import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A task that one process runs at a time, and again no sooner than `everyMs` after it finished. */
export type TaskLease = {
  readonly name: string;
  readonly owner: string;
  readonly everyMs: number;
  /** How long the other processes wait for an owner that does not finish. */
  readonly leaseMs: number;
};

/**
 * Takes the task if it is due and no other process has it; returns whether it did. Times are by the clock of Postgres. A time a
 * minute later than it can be was written while that clock was ahead, and is ignored. A process leases a
 * task once at a time. So if its own lease is still there, a round has failed or Postgres was restored; the task is due again `everyMs`
 * after the lease was taken.
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
             and (done_at <= clock_timestamp() - $4::bigint * interval '1 millisecond'
               or done_at > clock_timestamp() + interval '1 minute')`,
    values: [lease.name, lease.owner, lease.leaseMs, lease.everyMs],
  });
  return rowCount === 1;
}

/** Marks the task as done, so that it is due again after `everyMs`. Does nothing if another process has taken the task over. */
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

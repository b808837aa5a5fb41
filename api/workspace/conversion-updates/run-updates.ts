import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { retryConflicts } from "../../../schemas/postgres/retry-conflicts.ts";

/** Rows of a transaction: their conversions are locked for a quarter of a second or so. */
const STEP_ROWS = 500;
const ATTEMPTS_MAX = 5;
const RETRY_SECONDS = 10;
/** Longer than a file may take to arrive. */
const ABANDONED_MINUTES = 15;

/** Does the next rows of an update. Undefined if there is nothing to do, or another process does it. */
export async function stepUpdate(db: Pool, id: number): Promise<string | undefined> {
  const { rows } = await retryConflicts(() =>
    db.query<{ status: string | null }>({
      name: "step-conversion-update",
      text: "select step_conversion_update($1, $2) as status",
      values: [id, STEP_ROWS],
    }),
  );
  return rows[0]?.status ?? undefined;
}

/** The updates that have something to do, oldest first. */
export async function dueUpdates(db: Queryable): Promise<readonly number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: "find-due-conversion-updates",
    text: `select id from conversion_update
           where status in ('checking', 'applying', 'undoing') and due_at <= clock_timestamp() order by id limit 20`,
  });
  return rows.map(({ id }) => id);
}

/** An error of the service in a step: it is tried again, and given up after some times. */
export async function noteFailure(db: Queryable, id: number): Promise<void> {
  await db.query({
    name: "note-failure-of-conversion-update",
    text: `update conversion_update
           set attempts = attempts + 1, due_at = clock_timestamp() + make_interval(secs => $2),
             status = case when attempts + 1 >= $3 then 'failed' else status end,
             message = case when attempts + 1 >= $3 then 'Given up after repeated errors. The log of the service has them under updateId ' || id || '.' else message end,
             ended_at = case when attempts + 1 >= $3 then clock_timestamp() end
           where id = $1 and status in ('checking', 'applying', 'undoing')`,
    values: [id, RETRY_SECONDS, ATTEMPTS_MAX],
  });
}

/** Files that did not arrive whole because their process was killed. */
export async function deleteAbandoned(db: Queryable): Promise<void> {
  await db.query({
    name: "delete-abandoned-conversion-updates",
    text: `delete from conversion_update where status = 'reading' and created_at < now() - make_interval(mins => $1)`,
    values: [ABANDONED_MINUTES],
  });
}

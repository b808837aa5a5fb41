import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Changes of one call; each has up to four entries. */
export const ROWS_PER_CALL = 500;
/** Rows of the history that one call of the backfill looks at. */
const HISTORY_ROWS_PER_CALL = 5_000;
const WORKSPACES_MAX = 10_000;

/** Workspaces with changes to post, or with changes to queue from before the switch. */
export async function listWaiting(
  db: Queryable,
): Promise<readonly { readonly workspace_id: number; readonly has_backfill: boolean }[]> {
  const { rows } = await db.query<{ workspace_id: number; has_backfill: boolean }>({
    name: "list-waiting-ledgers",
    text: `select workspace_id, has_backfill
           from (select s.workspace_id,
                   s.enabled and (s.backfilled_to is distinct from 9223372036854775807 or s.backfill_xid <= s.enabled_xid) as has_backfill,
                   exists (select from ledger_outbox o where o.workspace_id = s.workspace_id) as has_changes
                 from billing_settings s) s
           where has_backfill or has_changes
           order by workspace_id limit $1`,
    values: [WORKSPACES_MAX],
  });
  return rows;
}

/** Queues a part of what was recorded before billing was switched on. Returns whether more can be queued at once. */
export async function backfillLedger(db: Queryable, workspaceId: number): Promise<boolean> {
  const { rows } = await db.query<{ has_more: boolean }>({
    name: "backfill-ledger",
    text: "select backfill_ledger($1, $2) as has_more",
    values: [workspaceId, HISTORY_ROWS_PER_CALL],
  });
  return rows[0]?.has_more ?? false;
}

/** Posts the oldest queued changes of a workspace, each exactly once. Changes that another process is posting are left to it. */
export async function postConversions(
  db: Queryable,
  workspaceId: number,
): Promise<{ readonly taken: number; readonly posted: number }> {
  const { rows } = await db.query<{ taken: number; posted: number }>({
    name: "post-conversions",
    text: "select taken, posted from post_conversions($1, $2)",
    values: [workspaceId, ROWS_PER_CALL],
  });
  return rows[0] ?? { taken: 0, posted: 0 };
}

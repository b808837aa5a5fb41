import { pause } from "../host/pause.ts";
import type { Queryable } from "../postgres/connect.ts";
import type { FactTable } from "./fact-table.ts";

const POLL_MS = 200;

/**
 * Waits until the changes that are in the outbox now have been copied to ClickHouse. Does not wait for later changes. Returns false after
 * `timeoutMs`, for example because no process copies.
 */
export async function awaitCopied(
  db: Queryable,
  table: FactTable,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const { table: records, newestWaiting, waitsUpTo } = table.postgres;
  const { rows } = await db.query<{ newest: number | null }>({
    name: `newest-waiting-${records}`,
    text: newestWaiting,
  });
  const newest = rows[0]?.newest ?? null;
  if (newest === null) return true;
  for (let pauses = 0; ; pauses += 1) {
    const waiting = await db.query({
      name: `waiting-up-to-${records}`,
      text: waitsUpTo,
      values: [newest],
    });
    if (waiting.rowCount === 0) return true;
    if (pauses * POLL_MS >= timeoutMs || signal.aborted) return false;
    await pause(POLL_MS, signal);
  }
}

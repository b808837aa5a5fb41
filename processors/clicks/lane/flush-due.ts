/** A single click is written after this time. */
const FIRST_WAIT_MS = 100;
/** Under load there is one insert in this time, so that ClickHouse gets few parts. */
const INSERT_INTERVAL_MS = 500;
/** After an insert of many rows. An insert costs as much as a thousand rows. */
const LARGE_INSERT_INTERVAL_MS = 1_000;
const LARGE_INSERT_ROWS = 500;
/** A batch with this many rows is inserted at once. */
const ROWS_AT_ONCE = 10_000;
/** Messages without records are acknowledged after this time. */
const IDLE_ACK_MS = 1_000;

/** The newest insert; `atMs` is the monotonic time at which it began. */
export type LastInsert = { readonly atMs: number; readonly rows: number };

export type FlushState = {
  /** Whether the batch is full. */
  readonly isComplete: boolean;
  readonly lastInsert: LastInsert;
  readonly nowMs: number;
};

/** Milliseconds until the batch must be written; 0 or less when it is due, infinite while nothing was read. */
export function flushDueInMs(
  batch: {
    readonly rows: number;
    readonly hasWork: boolean;
    readonly openedAtMs: number | undefined;
  },
  { isComplete, lastInsert, nowMs }: FlushState,
): number {
  if (isComplete || batch.rows >= ROWS_AT_ONCE) return 0;
  const { openedAtMs, hasWork } = batch;
  if (openedAtMs === undefined) return Number.POSITIVE_INFINITY;
  if (!hasWork) return openedAtMs + IDLE_ACK_MS - nowMs;
  const intervalMs =
    lastInsert.rows < LARGE_INSERT_ROWS ? INSERT_INTERVAL_MS : LARGE_INSERT_INTERVAL_MS;
  return Math.max(openedAtMs + FIRST_WAIT_MS, lastInsert.atMs + intervalMs) - nowMs;
}

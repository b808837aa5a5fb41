/** A single click is written after this time. */
const FIRST_WAIT_MS = 100;
/** Under load there is one insert in this time, so that ClickHouse gets few parts. */
const INSERT_INTERVAL_MS = 500;
/** A batch with this many rows is inserted at once. */
const ROWS_AT_ONCE = 10_000;
/** Messages without records are acknowledged after this time. */
const IDLE_ACK_MS = 1_000;

export type FlushState = {
  /** Whether the batch is full. */
  readonly isComplete: boolean;
  /** Monotonic ms at which the newest insert began. */
  readonly lastInsertAtMs: number;
  readonly nowMs: number;
};

/** Milliseconds until the batch must be written; 0 or less when it is due, infinite while nothing was read. */
export function flushDueInMs(
  batch: {
    readonly rows: number;
    readonly hasWork: boolean;
    readonly openedAtMs: number | undefined;
  },
  { isComplete, lastInsertAtMs, nowMs }: FlushState,
): number {
  if (isComplete || batch.rows >= ROWS_AT_ONCE) return 0;
  const { openedAtMs, hasWork } = batch;
  if (openedAtMs === undefined) return Number.POSITIVE_INFINITY;
  if (!hasWork) return openedAtMs + IDLE_ACK_MS - nowMs;
  return Math.max(openedAtMs + FIRST_WAIT_MS, lastInsertAtMs + INSERT_INTERVAL_MS) - nowMs;
}

/** A click alone is written this soon; under load there is one insert in this time, so that parts stay few. */
const FIRST_WAIT_MS = 100;
const INSERT_INTERVAL_MS = 500;
/** Worth an insert of their own at once. */
const ROWS_AT_ONCE = 10_000;
/** Messages without records are acknowledged this much later. */
const IDLE_ACK_MS = 1_000;

export type FlushState = {
  /** Whether the batch takes nothing more. */
  readonly isComplete: boolean;
  /** Monotonic ms at which the newest insert began. */
  readonly lastInsertAtMs: number;
  readonly nowMs: number;
};

/** Until a batch is to be written, at most 0 when it is due; infinite while nothing was read. */
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

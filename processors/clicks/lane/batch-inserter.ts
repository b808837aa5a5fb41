import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { type Batch, type LostRange, rowsOf, takeRows } from "../intake/batch.ts";
import { BATCH_ROWS_MAX, type IntakeEvents } from "../intake/intake.ts";
import { insertQueryId } from "./fence.ts";
import { FencedError, InsertTimeoutError, insertRows } from "./insert-rows.ts";
import type { LaneDeps } from "./lane-deps.ts";
import type { LaneLease } from "./lane-lease.ts";
import { noteLost } from "./lane-notes.ts";
import type { LaneTable } from "./lane-table.ts";

const ROWS_PER_INSERT_MIN = 1_000;
/** Shares of the lease time: an insert must end within the first one, and none begins when less than the margin is left. */
const INSERT_SHARE = 1 / 3;
const MARGIN_SHARE = 1 / 6;

export type BatchInserterOptions = {
  readonly deps: Pick<LaneDeps, "pool" | "clickhouse" | "metrics" | "log">;
  readonly lease: LaneLease;
  readonly table: LaneTable;
  readonly events: Pick<IntakeEvents, "lost">;
  readonly signal: AbortSignal;
};

/** Inserts the batches of one lane. Makes the inserts smaller while ClickHouse is too slow for them. */
export class BatchInserter {
  readonly #options: BatchInserterOptions;
  #database = "";
  #inserts = 0;
  #tokenSalt = "";
  #rowsPerInsert = BATCH_ROWS_MAX;

  constructor(options: BatchInserterOptions) {
    this.#options = options;
  }

  /**
   * The lane was opened on this database. `hasForgotten`: the table lost rows, but ClickHouse may still have their deduplication
   * tokens.
   */
  opened(database: string, { hasForgotten }: { readonly hasForgotten: boolean }): void {
    this.#database = database;
    if (hasForgotten) this.#tokenSalt = String(this.#options.lease.epoch);
  }

  /**
   * Inserts the rows of a batch and notes its lost ranges. After any error it is unknown which rows are stored.
   * @throws {FencedError | InsertTimeoutError} and what the stores throw.
   */
  async insert(batch: Batch): Promise<void> {
    const { deps, lease } = this.#options;
    for (const segments of batch.missingByMonth) {
      for (let start = 0; start < segments.length; ) {
        if (lease.remainingMs < lease.leaseMs * MARGIN_SHARE) {
          throw new Error("the lease was not renewed in time");
        }
        const part = takeRows(segments, start, this.#rowsPerInsert);
        await this.#insertPart(part, batch);
        start += part.length;
        this.#rowsPerInsert = Math.min(BATCH_ROWS_MAX, this.#rowsPerInsert * 2);
      }
    }
    // Before the acknowledgement: afterwards no message reports these losses again.
    if (batch.lost.length > 0) await noteLost(deps.pool, lease.lane, batch.lost);
  }

  /** An insert, or a step that belongs to it, failed with this error. */
  failed(error: unknown): void {
    const { metrics, log } = this.#options.deps;
    const isAway = isClickhouseAway(error) || error instanceof InsertTimeoutError;
    const reason = error instanceof FencedError ? "fenced" : isAway ? "away" : "fault";
    metrics.retries.add(1, { reason });
    // After an outage or a timeout, use smaller inserts.
    if (isAway) this.#rowsPerInsert = Math.max(ROWS_PER_INSERT_MIN, this.#rowsPerInsert >> 2);
    log.warn({ err: error, reason }, "clicks.insert-outcome-unknown");
  }

  async #insertPart(part: ReturnType<typeof takeRows>, batch: Batch): Promise<void> {
    const { deps, lease, table, events, signal } = this.#options;
    const { lane, epoch, leaseMs } = lease;
    const startedAtMs = performance.now();
    this.#inserts += 1;
    const refused = await insertRows(deps.clickhouse, {
      table,
      lane,
      writerEpoch: epoch,
      segments: part,
      queryId: insertQueryId({ database: this.#database, lane, epoch }, this.#inserts),
      tokenSalt: this.#tokenSalt,
      timeoutMs: Math.round(leaseMs * INSERT_SHARE),
      signal,
    });
    for (const { producer, epoch: of, position } of refused) {
      const reason = "unreadable" as const;
      const lost: LostRange = { producer, epoch: of, from: position, to: position + 1, reason };
      batch.lost.push(lost);
      events.lost(lost);
    }
    const { rows, inserts, insertSeconds, freshness } = deps.metrics;
    const labels = { table: table.name };
    rows.add(rowsOf(part), labels);
    inserts.add(1, labels);
    const ages = freshness.series(labels);
    const nowMs = systemClock.nowMs();
    for (const { from, to, fromMs } of part) {
      ages.observeTimes(Math.max(0, nowMs - fromMs) / 1_000, to - from);
    }
    insertSeconds.observe((performance.now() - startedAtMs) / 1_000, labels);
  }
}

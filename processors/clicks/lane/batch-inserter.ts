import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { systemClock } from "../../../schemas/time/clock.ts";
import { BATCH_ROWS_MAX, type IntakeEvents } from "../intake/intake.ts";
import { type Batch, type LostRange, rowsOf, type Segment, takeRows } from "../rows/batch.ts";
import { type Intent, intentOf, RANGES_MAX } from "../rows/intent.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import { insertQueryId } from "./fence.ts";
import type { Home } from "./home.ts";
import {
  FencedError,
  type Insert,
  InsertTimeoutError,
  insertClosingRow,
  insertRows,
} from "./insert-rows.ts";
import type { LaneDeps } from "./lane-deps.ts";
import type { LaneLease } from "./lane-lease.ts";
import { noteLost } from "./lane-notes.ts";

const ROWS_PER_INSERT_MIN = 1_000;
/** Shares of the lease time: an insert must end within the first one, and none begins when less than the margin is left. */
const INSERT_SHARE = 1 / 3;
const MARGIN_SHARE = 1 / 6;

export type BatchInserterOptions = {
  readonly deps: Pick<LaneDeps, "pool" | "metrics" | "log">;
  readonly lease: LaneLease;
  readonly table: LaneTable;
  readonly events: Pick<IntakeEvents, "lost">;
  readonly signal: AbortSignal;
};

/**
 * Inserts the batches of one lane. Makes the inserts smaller while ClickHouse is too slow for them.
 * Invariant: before an insert begins, it is recorded in Postgres and the insert before it is decided.
 */
export class BatchInserter {
  readonly #options: BatchInserterOptions;
  #home: Home | undefined;
  #database = "";
  #inserts = 0;
  #rowsPerInsert = BATCH_ROWS_MAX;
  /** Token of the last insert that ClickHouse has confirmed. */
  #decided: string | undefined;

  constructor(options: BatchInserterOptions) {
    this.#options = options;
  }

  /** The lane was opened on this server and database. */
  opened(home: Home, database: string): void {
    this.#home = home;
    this.#database = database;
  }

  /** The last insert of the lane, by any owner, unless this process knows that it is decided. */
  get undecided(): Intent | undefined {
    const { lastIntent } = this.#options.lease;
    return lastIntent?.token === this.#decided ? undefined : lastIntent;
  }

  /**
   * Inserts the rows of a batch and notes its lost ranges. The last insert must be decided. After any error it is unknown which rows are
   * stored.
   * @throws {FencedError | InsertTimeoutError}, what the stores throw, and LeaseLostError.
   */
  async insert(batch: Batch): Promise<void> {
    const { deps, lease } = this.#options;
    for (const segments of batch.missingByMonth) {
      for (let start = 0; start < segments.length; ) {
        const most = { rowsMax: this.#rowsPerInsert, rangesMax: RANGES_MAX };
        const part = takeRows(segments, start, most);
        await this.#insertPart(part, batch);
        start += part.length;
        this.#rowsPerInsert = Math.min(BATCH_ROWS_MAX, this.#rowsPerInsert * 2);
      }
    }
    // Before the acknowledgement: afterwards no message reports these losses again.
    if (batch.lost.length > 0) await noteLost(deps.pool, lease.lane, batch.lost);
  }

  /**
   * Decides an insert whose outcome is unknown: inserts under its token these rows of it, or a closing row if there are none. Afterwards no
   * block with this token will be stored, however late it arrives; only the table tells which rows are stored.
   * @throws as `insert` does. The call may be repeated.
   */
  async settle(intent: Intent, segments: readonly Segment[]): Promise<void> {
    const { deps, lease } = this.#options;
    const { clickhouse } = this.#openHome;
    const insert = this.#begin(intent);
    const refused = segments.length === 0 ? [] : await insertRows(clickhouse, insert, segments);
    if (rowsOf(segments) === refused.length) await insertClosingRow(clickhouse, insert, intent);
    // Before the positions are read: they must not seem to be missing.
    const lost = this.#lost(refused);
    if (lost.length > 0) await noteLost(deps.pool, lease.lane, lost);
    this.#decided = intent.token;
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

  get #openHome(): Home {
    if (this.#home === undefined) throw new Error("the lane is not open");
    return this.#home;
  }

  #requireLease(): void {
    const { remainingMs, leaseMs } = this.#options.lease;
    if (remainingMs < leaseMs * MARGIN_SHARE) throw new Error("the lease was not renewed in time");
  }

  /** An insert under the token of an intent. @throws {Error} if too little of the lease is left for it */
  #begin(intent: Intent): Insert {
    this.#requireLease();
    const { lease, table, signal } = this.#options;
    const { lane, epoch, leaseMs } = lease;
    this.#inserts += 1;
    return {
      table,
      layout: this.#openHome.layout,
      lane,
      writerEpoch: epoch,
      queryId: insertQueryId({ database: this.#database, lane, epoch }, this.#inserts),
      token: intent.token,
      timeoutMs: Math.round(leaseMs * INSERT_SHARE),
      signal,
    };
  }

  async #insertPart(part: readonly Segment[], batch: Batch): Promise<void> {
    const { deps, lease, table } = this.#options;
    const startedAtMs = performance.now();
    this.#requireLease();
    const { name: home, clickhouse } = this.#openHome;
    const intent = intentOf(part, { after: lease.lastIntent, table: table.name, home });
    await lease.recordIntent(intent);
    const refused = await insertRows(clickhouse, this.#begin(intent), part);
    this.#decided = intent.token;
    batch.lost.push(...this.#lost(refused));
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

  #lost(refused: Awaited<ReturnType<typeof insertRows>>): LostRange[] {
    return refused.map(({ producer, epoch, position }) => {
      const reason = "unreadable" as const;
      const lost: LostRange = { producer, epoch, from: position, to: position + 1, reason };
      this.#options.events.lost(lost);
      return lost;
    });
  }
}

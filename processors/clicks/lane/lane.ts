import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { repeatAllErasures } from "../../../schemas/erasure/erasures.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { Backoff } from "../backoff.ts";
import { ErasureWatch } from "../erasure/erasure-watch.ts";
import { type Batch, type LostRange, rowsOf, takeRows } from "../intake/batch.ts";
import { BATCH_ROWS_MAX, Intake, type IntakeEvents } from "../intake/intake.ts";
import { intakeEvents } from "../intake/intake-events.ts";
import { KnownProducers } from "../intake/known-producers.ts";
import { noteClaims } from "../intake/producer-claims.ts";
import { UniqueWindow } from "../visits/unique-window.ts";
import { answerQueries } from "../young/answer-queries.ts";
import { auditLane } from "./audit.ts";
import { Bell } from "./bell.ts";
import { insertQueryId, raiseFence, selectFence } from "./fence.ts";
import { flushDueInMs } from "./flush-due.ts";
import { FencedError, InsertTimeoutError, insertRows } from "./insert-rows.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";
import { noteLost, noteProgress, readLaneNotes } from "./lane-notes.ts";
import { LaneNotices } from "./lane-notices.ts";
import { LaneReader } from "./lane-reader.ts";
import { type LaneTable, tableOfLane } from "./lane-table.ts";
import { loadPositions, settle } from "./load-positions.ts";
import { meetFence } from "./meet-fence.ts";
import { publishWatermarks } from "./watermarks.ts";

const WAKE_MS = 250;
const WATERMARK_MS = 1_000;
const ALL_WATERMARKS_MS = 30_000;
const NOTE_MS = 10_000;
const AUDIT_MS = 60_000;
/** A gap that is still there after this is looked for in the stream, too: from its beginning, at most so often. */
const HOLE_PATIENCE_MS = 30_000;
const REWIND_INTERVAL_MS = 600_000;
const ROWS_A_INSERT_MIN = 1_000;
const LAST_FLUSH_MS = 8_000;
/** Shares of a lease: an insert ends well before it, and does not begin when less than the margin is left. */
const INSERT_SHARE = 1 / 3;
const MARGIN_SHARE = 1 / 6;

/**
 * Writes one lane for as long as its lease is held.
 *
 * Opening: the epoch is written to ClickHouse, older inserts are waited for, and the table says what is stored. Running:
 * messages are read, and batches written, side by side. After anything unexpected the lane is opened again under a new
 * epoch, with what was read in memory: what is stored is asked, never guessed.
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #lease: LaneLease;
  readonly #table: LaneTable;
  readonly #log: Log;
  readonly #events: IntakeEvents;
  readonly #work = new Bell();
  readonly #end = new AbortController();
  readonly #backoff: Backoff;
  readonly #reader: LaneReader;
  readonly #notices: LaneNotices;
  readonly #window: UniqueWindow;
  readonly #known: KnownProducers;
  readonly #erasures: ErasureWatch;
  readonly intake: Intake;
  #database = "";
  #inserts = 0;
  #tokenSalt = "";
  #rowsAInsert = BATCH_ROWS_MAX;
  #lastInsertAtMs = Number.NEGATIVE_INFINITY;
  /** Everything up to now is known to be stored or not, so that a batch may be written. */
  #isOpen = false;
  #isClosing = false;
  #isLost = false;
  #notedAtMs = 0;
  #auditedAtMs = performance.now();
  #holesSinceMs: number | undefined;
  #rewoundAtMs = Number.NEGATIVE_INFINITY;
  #allToldAtMs = Number.NEGATIVE_INFINITY;
  /** Settles when the lane is closed, or lost to another writer. Never rejects. */
  readonly ended: Promise<void>;

  constructor(deps: LaneDeps, lease: LaneLease) {
    this.#deps = deps;
    this.#lease = lease;
    this.#table = tableOfLane(lease.lane);
    this.#log = deps.log.child({ lane: lease.lane });
    this.#backoff = new Backoff(this.#log, "clicks.lane-waits");
    this.#events = intakeEvents(this.#log, deps.metrics);
    this.intake = new Intake({
      ...deps,
      lane: lease.lane,
      table: this.#table,
      events: this.#events,
    });
    this.#notices = new LaneNotices({
      ...deps,
      log: this.#log,
      lane: lease.lane,
      intake: this.intake,
      isHeld: () => lease.remainingMs > 0,
    });
    this.#window = new UniqueWindow(deps, this.intake, this.#log);
    const { completeness } = this.intake;
    this.#erasures = new ErasureWatch(deps.pool, this.intake, this.#log);
    this.#known = new KnownProducers(deps.pool, lease.lane, { completeness, log: this.#log });
    this.#reader = new LaneReader(
      {
        nats: deps.nats,
        lane: lease.lane,
        log: this.#log,
        take: (bytes, message) => {
          this.intake.take(bytes, message, performance.now());
          this.#notices.accepted();
          this.#work.ring();
        },
        isFull: () => this.intake.isFull,
        isHeld: () => lease.remainingMs > 0,
      },
      "acknowledged",
    );
    this.ended = this.#run();
  }

  get pendingMessages(): number | undefined {
    return this.#reader.pendingMessages;
  }

  /** Stops reading, writes what was read if ClickHouse takes it, and ends. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#backoff.end();
    this.#work.ring();
    const deadline = setTimeout(() => this.#end.abort(), LAST_FLUSH_MS);
    await this.ended;
    clearTimeout(deadline);
  }

  /** The lane is another writer's: nothing of it is written any more. */
  async abandon(): Promise<void> {
    this.#isLost = true;
    this.#isClosing = true;
    this.#end.abort();
    this.#backoff.end();
    this.#work.ring();
    await this.ended;
  }

  async #run(): Promise<void> {
    let queries: { close(): void } | undefined;
    let watermarks: NodeJS.Timeout | undefined;
    try {
      await this.#open("first");
      if (!this.#isClosing) {
        this.#reader.run();
        const { nats, metrics, clock } = this.#deps;
        queries = answerQueries(nats, this.#lease.lane, {
          intake: this.intake,
          log: this.#log,
          asked: metrics.asked,
          caughtUpMs: () => (this.#reader.pendingMessages === 0 ? clock.nowMs() : undefined),
        });
        watermarks = setInterval(() => this.#tellWatermarks(), WATERMARK_MS);
        if (this.#table.name === "click") this.#notices.start();
      }
      while (!this.#isClosing) await this.#step();
      await this.#reader.close();
      if (this.#isOpen && !this.#isLost) await this.#writeRest();
    } catch (error) {
      if (!(error instanceof LeaseLostError)) this.#log.error({ err: error }, "clicks.lane-failed");
      this.#isLost = true;
    } finally {
      this.#isClosing = true;
      clearInterval(watermarks);
      this.#notices.close();
      queries?.close();
      await this.#reader.close();
    }
    this.#log.info({ epoch: this.#lease.epoch, lost: this.#isLost }, "clicks.lane-ended");
  }

  /** Waits for work and does it; opens the lane anew when it fails. */
  async #step(): Promise<void> {
    await this.#work.wait(Math.min(WAKE_MS, this.#dueInMs()));
    if (this.#isClosing) return;
    try {
      do {
        // Between two inserts: what is stored does not change.
        if (this.#table.name === "click") await this.#refresh();
        if (this.#dueInMs() <= 0) await this.#writeFirst();
      } while (!this.#isClosing && this.#dueInMs() <= 0);
      await this.#noteProgress();
      await this.#audit();
      this.#seekHoles();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      this.#isOpen = false;
      this.#retried(error);
      if (!this.#isClosing) await this.#open("again");
    }
  }

  async #refresh(): Promise<void> {
    await this.#erasures.refresh();
    await this.#window.refresh();
    await this.#notices.refresh();
  }

  #dueInMs(): number {
    const { first, isFirstComplete } = this.intake;
    return flushDueInMs(first, {
      isComplete: isFirstComplete,
      lastInsertAtMs: this.#lastInsertAtMs,
      nowMs: performance.now(),
    });
  }

  async #writeFirst(): Promise<void> {
    const batch = this.intake.sealFirst();
    await noteClaims(this.#deps.clickhouse, this.#lease, this.intake.producers);
    if (batch.hasWork) {
      this.#lastInsertAtMs = performance.now();
      await this.#insert(batch);
    }
    await this.#known.noteChanges();
    const touched = settle(this.intake, batch);
    batch.lastMessage?.ack();
    this.intake.dropFirst(performance.now());
    this.#reader.roomMade();
    publishWatermarks(this.#deps.nats, this.#lease.lane, touched);
  }

  async #insert(batch: Batch): Promise<void> {
    const { pool, clickhouse, metrics } = this.#deps;
    const { lane, epoch, leaseMs } = this.#lease;
    for (const segments of batch.missingByMonth) {
      for (let start = 0; start < segments.length; ) {
        if (this.#lease.remainingMs < leaseMs * MARGIN_SHARE) {
          throw new Error("the lease was not renewed in time");
        }
        const part = takeRows(segments, start, this.#rowsAInsert);
        const startedAtMs = performance.now();
        this.#inserts += 1;
        const refused = await insertRows(clickhouse, {
          table: this.#table,
          lane,
          writerEpoch: epoch,
          segments: part,
          queryId: insertQueryId({ database: this.#database, lane, epoch }, this.#inserts),
          tokenSalt: this.#tokenSalt,
          timeoutMs: Math.round(leaseMs * INSERT_SHARE),
          signal: this.#end.signal,
        });
        for (const { producer, epoch: of, position } of refused) {
          const reason = "unreadable" as const;
          const lost: LostRange = { producer, epoch: of, from: position, to: position + 1, reason };
          batch.lost.push(lost);
          this.#events.lost(lost);
        }
        const seconds = (performance.now() - startedAtMs) / 1_000;
        metrics.inserted(this.#table.name, rowsOf(part), seconds);
        start += part.length;
        this.#rowsAInsert = Math.min(BATCH_ROWS_MAX, this.#rowsAInsert * 2);
      }
    }
    // Before the acknowledgement: afterwards nobody says again that they are lost.
    if (batch.lost.length > 0) await noteLost(pool, this.#lease.lane, batch.lost);
  }

  /** Until it succeeds, or the lane is lost. `again`: an insert of unknown outcome may be on its way. */
  async #open(occasion: "first" | "again"): Promise<void> {
    let needsEpoch = occasion === "again";
    while (!this.#isClosing) {
      try {
        if (needsEpoch) await this.#lease.raiseEpoch(0);
        needsEpoch = false;
        await this.#openOnce(occasion);
        this.#backoff.reset();
        this.#isOpen = true;
        return;
      } catch (error) {
        if (error instanceof LeaseLostError) throw error;
        await this.#backoff.pause(error);
      }
    }
  }

  async #openOnce(occasion: "first" | "again"): Promise<void> {
    const { clickhouse, pool, metrics } = this.#deps;
    const { lane } = this.#lease;
    const { signal } = this.#end;
    const fence = await selectFence(clickhouse, lane, signal);
    this.#database = fence.database;
    await meetFence(this.#deps, { lease: this.#lease, log: this.#log }, fence.epoch);
    const { epoch } = this.#lease;
    await raiseFence(clickhouse, { database: this.#database, lane, epoch }, signal);
    if (occasion === "first") await this.#known.load();
    // Before the stream is read again: what was erased must not come back out of it.
    if (this.#table.name === "click") await this.#erasures.load();
    const place = { table: this.#table, lane };
    const forgotten = await loadPositions({ clickhouse, db: pool }, this.intake, place);
    const isChanged = occasion === "first" || forgotten.length > 0;
    if (isChanged && this.#table.name === "click") await this.#window.load();
    if (forgotten.length > 0) {
      metrics.wentBack();
      this.#tokenSalt = String(epoch);
      this.intake.caps.unload();
      this.#log.error({ forgotten: forgotten.slice(0, 10) }, "clicks.table-has-forgotten-rows");
      // Also erasures may be among what the table has forgotten.
      await repeatAllErasures(pool);
      this.#rewind();
    }
    const { size } = this.intake.uniques;
    const producers = [...this.intake.producers.all()].length;
    this.#log.info(
      { epoch, producers, uniques: size, waiting: this.intake.rows },
      "clicks.lane-open",
    );
  }

  #retried(error: unknown): void {
    const isAway = isClickhouseAway(error) || error instanceof InsertTimeoutError;
    const reason = error instanceof FencedError ? "fenced" : isAway ? "away" : "fault";
    this.#deps.metrics.retried(reason);
    // Whatever was too slow is tried in smaller pieces.
    if (isAway) this.#rowsAInsert = Math.max(ROWS_A_INSERT_MIN, this.#rowsAInsert >> 2);
    this.#log.warn({ err: error, reason }, "clicks.insert-outcome-unknown");
  }

  #rewind(): void {
    this.#rewoundAtMs = performance.now();
    this.#reader.rewind();
  }

  #tellWatermarks(): void {
    const nowMs = performance.now();
    const isForAll = nowMs - this.#allToldAtMs >= ALL_WATERMARKS_MS;
    if (isForAll) this.#allToldAtMs = nowMs;
    const told = [...this.intake.producers.all()].filter(({ isActive }) => isForAll || isActive);
    publishWatermarks(this.#deps.nats, this.#lease.lane, told);
  }

  async #noteProgress(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#notedAtMs < NOTE_MS) return;
    this.#notedAtMs = nowMs;
    try {
      await noteProgress(this.#deps.pool, this.#lease.lane, this.intake.producers.all());
      await this.#known.refresh(this.#deps.clock.nowMs());
    } catch (error) {
      // Noted next time: only a table that forgets needs it.
      this.#log.warn({ err: error }, "clicks.progress-not-noted");
    }
  }

  async #audit(): Promise<void> {
    if (performance.now() - this.#auditedAtMs < AUDIT_MS) return;
    this.#auditedAtMs = performance.now();
    const { clickhouse, pool, metrics } = this.#deps;
    const { lane } = this.#lease;
    const { lost } = await readLaneNotes(pool, lane);
    const lostOf = (producer: number, epoch: number): number =>
      (lost.get(`${producer}.${epoch}`) ?? []).reduce((sum, [from, to]) => sum + to - from, 0);
    const place = { table: this.#table, lane };
    const result = await auditLane(clickhouse, place, this.intake.producers, lostOf);
    const isOk = result.differing.length === 0 && result.recent === result.recentIds;
    metrics.audited(isOk);
    if (isOk) {
      this.#log.info(result, "clicks.audit");
      return;
    }
    this.#log.error(result, "clicks.audit-differs");
    if (result.rows < result.rowsExpected) throw new Error("the table holds less than was stored");
  }

  /** Producers send missing records again when they are told; a gap that stays is looked for in the stream. */
  #seekHoles(): void {
    const nowMs = performance.now();
    const { openHoles: holes } = this.intake.producers;
    if (holes === 0) {
      this.#holesSinceMs = undefined;
      return;
    }
    this.#holesSinceMs ??= nowMs;
    if (nowMs - this.#holesSinceMs < HOLE_PATIENCE_MS) return;
    if (nowMs - this.#rewoundAtMs < REWIND_INTERVAL_MS) return;
    this.#log.error({ holes }, "clicks.holes-stay-open");
    this.#rewind();
  }

  async #writeRest(): Promise<void> {
    try {
      while (this.intake.first.hasWork) await this.#writeFirst();
      this.intake.first.lastMessage?.ack();
      this.#notedAtMs = Number.NEGATIVE_INFINITY;
      await this.#noteProgress();
    } catch (error) {
      // The next owner reads the same messages again.
      this.#log.warn({ err: error, rows: this.intake.rows }, "clicks.rest-not-written");
    }
  }
}

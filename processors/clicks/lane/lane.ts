import { repeatAllErasures } from "../../../schemas/erasure/erasures.ts";
import { Backoff } from "../../../schemas/host/backoff.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { Intake, type IntakeEvents } from "../intake/intake.ts";
import { intakeEvents } from "../intake/intake-events.ts";
import { OpenProducers } from "../intake/open-producers.ts";
import { noteClaims } from "../intake/producer-claims.ts";
import { type LaneTable, tableOfLane } from "../rows/lane-table.ts";
import { answerQueries } from "./answer-queries.ts";
import { BACKOFF } from "./backoff.ts";
import { BatchInserter } from "./batch-inserter.ts";
import { ErasureWatch } from "./erasure-watch.ts";
import { awaitOlderInserts, raiseFence, selectFence } from "./fence.ts";
import { flushDueInMs, type LastInsert } from "./flush-due.ts";
import { lacksAcknowledged } from "./lacks-acknowledged.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { LaneDuties, type LastAudit } from "./lane-duties.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";
import { LaneMove } from "./lane-move.ts";
import { LaneNotices } from "./lane-notices.ts";
import { LaneReader } from "./lane-reader.ts";
import { LaneRows } from "./lane-rows.ts";
import { takeShare } from "./lane-share.ts";
import { LaneSplit } from "./lane-split.ts";
import { isEnding, type LaneEvent, type LaneState, nextState } from "./lane-state.ts";
import { loadPositions, settle } from "./load-positions.ts";
import { meetFence } from "./meet-fence.ts";
import { UniqueWindow } from "./unique-window.ts";
import { WakeSignal } from "./wake-signal.ts";
import { publishWatermarks } from "./watermarks.ts";

const WAKE_MS = 250;
const WATERMARK_MS = 1_000;
const ALL_WATERMARKS_MS = 30_000;
const LAST_FLUSH_MS = 8_000;

/**
 * Waits for the rows of an insert that an earlier owner has left undecided. They were never acknowledged, so the stream sends them first. If it
 * was read to its end without them, or cannot be read, the insert is settled without them, and their producers are asked for them.
 */
const READ_PATIENCE_MS = 10_000;
const UNREAD_PATIENCE_MS = 60_000;

/**
 * Writes one lane while its lease is held.
 *
 * Opening: it writes its epoch to ClickHouse and reads from the table what is stored. If the last insert of the lane is not there, it is
 * settled before another insert begins. Running: it reads messages and writes batches at the same time. After any unexpected error it opens
 * the lane again under a new epoch and keeps the records that it has read: it queries what is stored and never guesses.
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #lease: LaneLease;
  readonly #table: LaneTable;
  readonly #log: Log;
  readonly #events: IntakeEvents;
  readonly #work = new WakeSignal();
  readonly #end = new AbortController();
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #reader: LaneReader;
  readonly #notices: LaneNotices;
  readonly #window: UniqueWindow;
  readonly #producers: OpenProducers;
  readonly #erasures: ErasureWatch;
  readonly #inserter: BatchInserter;
  readonly #duties: LaneDuties;
  readonly #split: LaneSplit;
  readonly #rows: LaneRows;
  readonly #move: LaneMove;
  readonly intake: Intake;
  #lastInsert: LastInsert = { atMs: Number.NEGATIVE_INFINITY, rows: 0 };
  #state: LaneState = "opening";
  #openedAtMs = 0;
  #allPublishedAtMs = Number.NEGATIVE_INFINITY;
  /** Settles when the lane is closed, or lost to another writer. Never rejects. */
  readonly ended: Promise<void>;

  constructor(deps: LaneDeps, lease: LaneLease) {
    this.#deps = deps;
    this.#lease = lease;
    this.#table = tableOfLane(lease.lane);
    this.#log = deps.log.child({ lane: lease.lane });
    const report = { log: this.#log, event: "clicks.lane-waits" };
    this.#backoff = new Backoff({ ...BACKOFF, signal: this.#closing.signal, report });
    this.#events = intakeEvents(this.#log, deps.metrics);
    this.intake = new Intake({
      ...deps,
      lane: lease.lane,
      table: this.#table,
      events: this.#events,
    });
    const { signal } = this.#end;
    const { lane } = lease;
    const laneDeps = { ...deps, lease, table: this.#table, log: this.#log, signal };
    this.#rows = new LaneRows(laneDeps);
    const partDeps = { ...laneDeps, lane, deps: laneDeps, rows: this.#rows, intake: this.intake };
    this.#move = new LaneMove(partDeps);
    this.#notices = new LaneNotices({
      ...partDeps,
      isHeld: () => lease.remainingMs > 0,
    });
    this.#window = new UniqueWindow(partDeps, this.intake, this.#log);
    const { completeness } = this.intake;
    this.#erasures = new ErasureWatch(deps.pool, this.intake, this.#log);
    this.#producers = new OpenProducers(deps.pool, lease.lane, { completeness, log: this.#log });
    this.#reader = new LaneReader(
      {
        nats: deps.nats,
        lane: lease.lane,
        log: this.#log,
        take: (bytes, message) => {
          this.intake.take(bytes, message, performance.now());
          this.#notices.accepted();
          this.#work.wake();
        },
        isFull: () => this.intake.isFull,
        isHeld: () => lease.remainingMs > 0,
      },
      "acknowledged",
    );
    this.#inserter = new BatchInserter({ ...partDeps, events: this.#events });
    this.#duties = new LaneDuties({
      ...partDeps,
      openProducers: this.#producers,
      rewind: () => this.#reader.rewind(),
    });
    this.#split = new LaneSplit({
      db: deps.pool,
      catalog: deps.catalog,
      intake: this.intake,
      lease,
      log: this.#log,
      isCaughtUp: () => this.#reader.pendingMessages === 0,
    });
    this.ended = this.#run();
  }

  get pendingMessages(): number | undefined {
    return this.#reader.pendingMessages;
  }

  /** Ingress processes that it waits for: see {@link OpenProducers.silent}. */
  get silentProducers(): number {
    return this.#producers.silent;
  }

  get lastAudit(): LastAudit | undefined {
    return this.#duties.lastAudit;
  }

  /** Stops reading, writes the rest if ClickHouse accepts it, and ends. */
  async close(): Promise<void> {
    this.#transition("closed");
    const deadline = setTimeout(() => this.#end.abort(), LAST_FLUSH_MS);
    await this.ended;
    clearTimeout(deadline);
  }

  /** Another writer has the lane: nothing more is written. */
  async abandon(): Promise<void> {
    this.#transition("lost");
    this.#end.abort();
    await this.ended;
  }

  get #isEnding(): boolean {
    return isEnding(this.#state);
  }

  #transition(event: LaneEvent): void {
    this.#state = nextState(this.#state, event);
    if (!this.#isEnding) return;
    this.#closing.abort();
    this.#work.wake();
  }

  async #run(): Promise<void> {
    let queries: { close(): void } | undefined;
    let watermarks: NodeJS.Timeout | undefined;
    try {
      await this.#open("first");
      if (!this.#isEnding) {
        this.#reader.run();
        queries = this.#answerQueries();
        watermarks = setInterval(() => this.#publishWatermarks(), WATERMARK_MS);
        if (this.#table.name === "click") this.#notices.start();
      }
      while (!this.#isEnding) await this.#step();
      await this.#reader.close();
      if (this.#state === "draining") await this.#writeRest();
    } catch (error) {
      if (!(error instanceof LeaseLostError)) this.#log.error({ err: error }, "clicks.lane-failed");
      this.#transition("lost");
    } finally {
      clearInterval(watermarks);
      this.#notices.close();
      queries?.close();
      await this.#reader.close();
    }
    const lost = this.#state === "lost";
    this.#log.info({ epoch: this.#lease.epoch, lost }, "clicks.lane-ended");
  }

  #answerQueries(): { close(): void } {
    const { nats, metrics, clock } = this.#deps;
    return answerQueries(nats, this.#lease.lane, {
      intake: this.intake,
      log: this.#log,
      queries: metrics.queries,
      caughtUpMs: () => (this.#reader.pendingMessages === 0 ? clock.nowMs() : undefined),
    });
  }

  /** Waits for work and does it. If it fails, opens the lane again. */
  async #step(): Promise<void> {
    await this.#work.wait(Math.min(WAKE_MS, this.#dueInMs()));
    if (this.#isEnding) return;
    try {
      do {
        // Between two inserts, so that the stored rows do not change meanwhile.
        if (!this.#isUndecided) await this.#refresh();
        if (this.#dueInMs() <= 0) await this.#writeFirst();
      } while (!this.#isEnding && this.#dueInMs() <= 0);
      if (!this.#isUndecided) await this.#duties.perform();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      this.#transition("failed");
      this.#inserter.failed(error);
      if (!this.#isEnding) await this.#open("again");
    }
  }

  async #refresh(): Promise<void> {
    if (await this.#move.advance()) await this.#openOnce("moved");
    if (this.#table.name !== "click") return;
    await this.#erasures.refresh();
    await this.#window.refresh();
    await this.#notices.refresh();
    await this.#split.advance();
  }

  /** Whether rows may appear in the table that this writer did not insert. */
  get #isUndecided(): boolean {
    return this.intake.undecided.intent !== undefined;
  }

  #dueInMs(): number {
    if (this.#isUndecided) {
      const { undecided, producers, isFull } = this.intake;
      if (undecided.isRead(producers) || isFull) return 0;
      const patienceMs = this.#reader.pendingMessages === 0 ? READ_PATIENCE_MS : UNREAD_PATIENCE_MS;
      return this.#openedAtMs + patienceMs - performance.now();
    }
    const { first, isFirstComplete } = this.intake;
    return flushDueInMs(first, {
      isComplete: isFirstComplete,
      lastInsert: this.#lastInsert,
      nowMs: performance.now(),
    });
  }

  async #writeFirst(): Promise<void> {
    if (this.#isUndecided) {
      await this.#settle();
      return;
    }
    const batch = this.intake.sealFirst();
    await noteClaims(this.#rows.home.clickhouse, this.#lease, this.intake.producers);
    if (batch.hasWork) {
      this.#lastInsert = { atMs: performance.now(), rows: batch.rows };
      await this.#inserter.insert(batch);
    }
    await this.#producers.noteChanges();
    const touched = settle(this.intake, batch);
    batch.lastMessage?.ack();
    this.intake.dropFirst(performance.now());
    this.#reader.roomMade();
    publishWatermarks(this.#deps.nats, this.#lease.lane, touched);
  }

  /** Settles the undecided insert with its rows that are in memory, and reads what is stored. */
  async #settle(): Promise<void> {
    const { undecided, producers, batches } = this.intake;
    const { intent } = undecided;
    if (intent === undefined) return;
    if (this.#dueInMs() > 0) throw new Error("an insert of an earlier owner is not settled yet");
    const isRead = undecided.isRead(producers);
    const segments = undecided.segmentsIn(batches);
    await noteClaims(this.#rows.home.clickhouse, this.#lease, producers);
    await this.#inserter.settle(intent, segments);
    const rows = segments.length === 0 ? "none" : isRead ? "all" : "some";
    this.#deps.metrics.settled.add(1, { rows });
    const { n, month, ranges } = intent;
    this.#log.warn({ n, month, ranges: ranges.length, rows }, "clicks.insert-settled");
    // Rows that only the table has may contain unique visits.
    await this.#openOnce(rows === "all" ? "again" : "settled");
  }

  /** Repeats until the lane is open or lost. `again`: an insert with unknown outcome may still be on its way. */
  async #open(occasion: "first" | "again"): Promise<void> {
    let needsEpoch = occasion === "again";
    while (!this.#isEnding) {
      try {
        if (needsEpoch) await this.#lease.raiseEpoch(0);
        needsEpoch = false;
        await this.#openOnce(occasion);
        this.#backoff.reset();
        this.#transition("opened");
        return;
      } catch (error) {
        if (error instanceof LeaseLostError) throw error;
        await this.#backoff.pause(error);
      }
    }
  }

  /**
   * `settled`: the same epoch goes on, after an insert was settled whose rows this process does not have. `moved`: the same epoch goes on,
   * on another shard.
   */
  async #openOnce(occasion: "first" | "again" | "settled" | "moved"): Promise<void> {
    const { pool, metrics } = this.#deps;
    const { lane } = this.#lease;
    const { signal } = this.#end;
    const home = await this.#rows.open();
    const { clickhouse } = home;
    const log = this.#log;
    const fence = await selectFence(clickhouse, lane, signal);
    const { database } = fence;
    await meetFence(this.#deps, { lease: this.#lease, log }, fence.epoch);
    const { epoch } = this.#lease;
    await raiseFence(clickhouse, { database, lane, epoch }, { signal, log });
    if (!this.#lease.hasLastIntent)
      await awaitOlderInserts(clickhouse, { database, lane, epoch }, signal);
    if (occasion === "first" && this.#table.name === "click")
      this.intake.share = await takeShare(this.#deps, this.#lease, this.#closing.signal);
    if (occasion === "first") await this.#producers.load();
    // Before the stream is read again, so that erased data does not come back from it.
    if (this.#table.name === "click") await this.#erasures.load();
    const { undecided: intent } = this.#inserter;
    const target = { table: this.#table, lane, intent };
    const forgotten = await loadPositions({ rows: this.#rows, db: pool }, this.intake, target);
    const isChanged = ["first", "settled"].includes(occasion) || forgotten.length > 0;
    if (isChanged && this.#table.name === "click") await this.#window.load();
    this.#inserter.opened(home, database);
    this.#openedAtMs = performance.now();
    if (forgotten.length > 0) {
      metrics.tableWentBack.add();
      this.intake.caps.unload();
      this.#log.error({ forgotten: forgotten.slice(0, 10) }, "clicks.table-has-forgotten-rows");
      // The table may also have lost erasures.
      await repeatAllErasures(pool);
      this.#duties.rewind();
    } else if (occasion === "first") {
      await this.#findLostTogether();
    }
    const { size } = this.intake.uniques;
    const producers = [...this.intake.producers.all()].length;
    this.#log.info(
      { epoch, producers, uniques: size, waiting: this.intake.rows },
      "clicks.lane-open",
    );
  }

  /** Reads the stream from its beginning if both stores have lost what was acknowledged to it. */
  async #findLostTogether(): Promise<void> {
    const { nats, pool, metrics } = this.#deps;
    const from = { nats, log: this.#log };
    if (!(await lacksAcknowledged(from, this.#lease.lane, this.intake.producers))) return;
    metrics.tableWentBack.add();
    this.#log.error("clicks.stores-are-older-than-the-stream");
    await repeatAllErasures(pool);
    this.#duties.rewind();
  }

  #publishWatermarks(): void {
    const nowMs = performance.now();
    const isForAll = nowMs - this.#allPublishedAtMs >= ALL_WATERMARKS_MS;
    if (isForAll) this.#allPublishedAtMs = nowMs;
    const producers = [...this.intake.producers.all()].filter(
      ({ isActive }) => isForAll || isActive,
    );
    publishWatermarks(this.#deps.nats, this.#lease.lane, producers);
  }

  async #writeRest(): Promise<void> {
    try {
      while (this.intake.first.hasWork) await this.#writeFirst();
      this.intake.first.lastMessage?.ack();
      await this.#duties.noteProgress();
    } catch (error) {
      // The next owner reads the same messages again.
      this.#log.warn({ err: error, rows: this.intake.rows }, "clicks.rest-not-written");
    }
  }
}

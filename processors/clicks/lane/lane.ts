import { repeatAllErasures } from "../../../schemas/erasure/erasures.ts";
import { Backoff } from "../../../schemas/host/backoff.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { ErasureWatch } from "../erasure/erasure-watch.ts";
import { Intake, type IntakeEvents } from "../intake/intake.ts";
import { intakeEvents } from "../intake/intake-events.ts";
import { KnownProducers } from "../intake/known-producers.ts";
import { noteClaims } from "../intake/producer-claims.ts";
import { UniqueWindow } from "../visits/unique-window.ts";
import { answerQueries } from "../young/answer-queries.ts";
import { BACKOFF } from "./backoff.ts";
import { BatchInserter } from "./batch-inserter.ts";
import { Bell } from "./bell.ts";
import { raiseFence, selectFence } from "./fence.ts";
import { flushDueInMs } from "./flush-due.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { LaneDuties } from "./lane-duties.ts";
import { type LaneLease, LeaseLostError } from "./lane-lease.ts";
import { LaneNotices } from "./lane-notices.ts";
import { LaneReader } from "./lane-reader.ts";
import { isEnding, type LaneEvent, type LaneState, nextState } from "./lane-state.ts";
import { type LaneTable, tableOfLane } from "./lane-table.ts";
import { loadPositions, settle } from "./load-positions.ts";
import { meetFence } from "./meet-fence.ts";
import { publishWatermarks } from "./watermarks.ts";

const WAKE_MS = 250;
const WATERMARK_MS = 1_000;
const ALL_WATERMARKS_MS = 30_000;
const LAST_FLUSH_MS = 8_000;

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
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  readonly #reader: LaneReader;
  readonly #notices: LaneNotices;
  readonly #window: UniqueWindow;
  readonly #known: KnownProducers;
  readonly #erasures: ErasureWatch;
  readonly #inserter: BatchInserter;
  readonly #duties: LaneDuties;
  readonly intake: Intake;
  #lastInsertAtMs = Number.NEGATIVE_INFINITY;
  #state: LaneState = "opening";
  #allToldAtMs = Number.NEGATIVE_INFINITY;
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
    const { signal } = this.#end;
    const own = { deps: { ...deps, log: this.#log }, lease, table: this.#table };
    this.#inserter = new BatchInserter({ ...own, events: this.#events, signal });
    this.#duties = new LaneDuties({
      ...own,
      lane: lease.lane,
      intake: this.intake,
      known: this.#known,
      rewind: () => this.#reader.rewind(),
    });
    this.ended = this.#run();
  }

  get pendingMessages(): number | undefined {
    return this.#reader.pendingMessages;
  }

  /** Stops reading, writes what was read if ClickHouse takes it, and ends. */
  async close(): Promise<void> {
    this.#turn("closed");
    const deadline = setTimeout(() => this.#end.abort(), LAST_FLUSH_MS);
    await this.ended;
    clearTimeout(deadline);
  }

  /** The lane is another writer's: nothing of it is written any more. */
  async abandon(): Promise<void> {
    this.#turn("lost");
    this.#end.abort();
    await this.ended;
  }

  get #isEnding(): boolean {
    return isEnding(this.#state);
  }

  #turn(event: LaneEvent): void {
    this.#state = nextState(this.#state, event);
    if (!this.#isEnding) return;
    this.#closing.abort();
    this.#work.ring();
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
      this.#turn("lost");
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
      asked: metrics.asked,
      caughtUpMs: () => (this.#reader.pendingMessages === 0 ? clock.nowMs() : undefined),
    });
  }

  /** Waits for work and does it; opens the lane anew when it fails. */
  async #step(): Promise<void> {
    await this.#work.wait(Math.min(WAKE_MS, this.#dueInMs()));
    if (this.#isEnding) return;
    try {
      do {
        // Between two inserts: what is stored does not change.
        if (this.#table.name === "click") await this.#refresh();
        if (this.#dueInMs() <= 0) await this.#writeFirst();
      } while (!this.#isEnding && this.#dueInMs() <= 0);
      await this.#duties.perform();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      this.#turn("failed");
      this.#inserter.failed(error);
      if (!this.#isEnding) await this.#open("again");
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
      await this.#inserter.insert(batch);
    }
    await this.#known.noteChanges();
    const touched = settle(this.intake, batch);
    batch.lastMessage?.ack();
    this.intake.dropFirst(performance.now());
    this.#reader.roomMade();
    publishWatermarks(this.#deps.nats, this.#lease.lane, touched);
  }

  /** Until it succeeds, or the lane is lost. `again`: an insert of unknown outcome may be on its way. */
  async #open(occasion: "first" | "again"): Promise<void> {
    let needsEpoch = occasion === "again";
    while (!this.#isEnding) {
      try {
        if (needsEpoch) await this.#lease.raiseEpoch(0);
        needsEpoch = false;
        await this.#openOnce(occasion);
        this.#backoff.reset();
        this.#turn("opened");
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
    const { database } = fence;
    await meetFence(this.#deps, { lease: this.#lease, log: this.#log }, fence.epoch);
    const { epoch } = this.#lease;
    await raiseFence(clickhouse, { database, lane, epoch }, signal);
    if (occasion === "first") await this.#known.load();
    // Before the stream is read again: what was erased must not come back out of it.
    if (this.#table.name === "click") await this.#erasures.load();
    const place = { table: this.#table, lane };
    const forgotten = await loadPositions({ clickhouse, db: pool }, this.intake, place);
    const isChanged = occasion === "first" || forgotten.length > 0;
    if (isChanged && this.#table.name === "click") await this.#window.load();
    this.#inserter.opened(database, { hasForgotten: forgotten.length > 0 });
    if (forgotten.length > 0) {
      metrics.wentBack();
      this.intake.caps.unload();
      this.#log.error({ forgotten: forgotten.slice(0, 10) }, "clicks.table-has-forgotten-rows");
      // Also erasures may be among what the table has forgotten.
      await repeatAllErasures(pool);
      this.#duties.rewind();
    }
    const { size } = this.intake.uniques;
    const producers = [...this.intake.producers.all()].length;
    this.#log.info(
      { epoch, producers, uniques: size, waiting: this.intake.rows },
      "clicks.lane-open",
    );
  }

  #publishWatermarks(): void {
    const nowMs = performance.now();
    const isForAll = nowMs - this.#allToldAtMs >= ALL_WATERMARKS_MS;
    if (isForAll) this.#allToldAtMs = nowMs;
    const told = [...this.intake.producers.all()].filter(({ isActive }) => isForAll || isActive);
    publishWatermarks(this.#deps.nats, this.#lease.lane, told);
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

import type { Intake } from "../intake/intake.ts";
import type { OpenProducers } from "../intake/open-producers.ts";
import type { LaneTable } from "../rows/lane-table.ts";
import { auditLane } from "./audit.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { noteProgress, readLaneNotes } from "./lane-notes.ts";
import { readLeftPositions } from "./lane-place.ts";
import type { LaneRows } from "./lane-rows.ts";

const NOTE_MS = 10_000;
const AUDIT_MS = 60_000;
/** If a gap is open for longer than this, the lane also reads the stream again from its beginning, at most this often. */
const HOLE_PATIENCE_MS = 30_000;
const REWIND_INTERVAL_MS = 600_000;

export type LaneDutiesOptions = {
  readonly deps: Pick<LaneDeps, "pool" | "metrics" | "log" | "clock">;
  readonly lane: number;
  readonly rows: LaneRows;
  readonly table: LaneTable;
  readonly intake: Intake;
  readonly openProducers: OpenProducers;
  /** Reads the lane's messages again from the beginning of the stream. */
  readonly rewind: () => void;
};

/** `atMs` is monotonic. */
export type LastAudit = { readonly isOk: boolean; readonly atMs: number };

/** The work of a lane between two inserts: it notes its progress, audits the table and looks for gaps. */
export class LaneDuties {
  readonly #options: LaneDutiesOptions;
  #notedAtMs = 0;
  #lastAudit: LastAudit | undefined;
  #auditedAtMs = performance.now();
  #holesSinceMs: number | undefined;
  #rewoundAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LaneDutiesOptions) {
    this.#options = options;
  }

  /** @throws {Error} if the table has fewer rows than were stored, and what the stores throw. */
  async perform(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#notedAtMs >= NOTE_MS) await this.noteProgress();
    if (nowMs - this.#auditedAtMs >= AUDIT_MS) await this.#audit();
    this.#seekHoles();
  }

  /** The last audit that compared the table; undefined before the first, a minute after the lane was taken. */
  get lastAudit(): LastAudit | undefined {
    return this.#lastAudit;
  }

  async noteProgress(): Promise<void> {
    const { deps, lane, intake, openProducers } = this.#options;
    this.#notedAtMs = performance.now();
    try {
      await noteProgress(deps.pool, lane, intake.producers.all());
      await openProducers.refresh(deps.clock.nowMs());
    } catch (error) {
      // The progress is noted again next time. It is needed only after the table lost rows.
      deps.log.warn({ err: error }, "clicks.progress-not-noted");
    }
  }

  rewind(): void {
    this.#rewoundAtMs = performance.now();
    this.#options.rewind();
  }

  async #audit(): Promise<void> {
    this.#auditedAtMs = performance.now();
    const { deps, lane, table, intake } = this.#options;
    const { pool, metrics, log } = deps;
    const { lost } = await readLaneNotes(pool, lane);
    const lostOf = (producer: number, epoch: number): number =>
      (lost.get(`${producer}.${epoch}`) ?? []).reduce((sum, [from, to]) => sum + to - from, 0);
    const left = await readLeftPositions(pool, lane);
    const servers = await this.#options.rows.everywhere();
    const result = await auditLane({ servers, left }, { table, lane }, intake.producers, lostOf);
    const isOk = result.differing.length === 0 && result.recent === result.recentIds;
    metrics.audits.add(1, { outcome: isOk ? "ok" : "differs" });
    this.#lastAudit = { isOk, atMs: performance.now() };
    if (isOk) {
      log.info(result, "clicks.audit");
      return;
    }
    log.error(result, "clicks.audit-differs");
    if (result.rows < result.rowsExpected)
      throw new Error("the table has fewer rows than were stored");
  }

  /** Producers send missing records again when they learn of the gap. If a gap stays open, read the stream again. */
  #seekHoles(): void {
    const nowMs = performance.now();
    const { openHoles: holes } = this.#options.intake.producers;
    if (holes === 0) {
      this.#holesSinceMs = undefined;
      return;
    }
    this.#holesSinceMs ??= nowMs;
    if (nowMs - this.#holesSinceMs < HOLE_PATIENCE_MS) return;
    if (nowMs - this.#rewoundAtMs < REWIND_INTERVAL_MS) return;
    this.#options.deps.log.error({ holes }, "clicks.holes-stay-open");
    this.rewind();
  }
}

import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Log } from "../host/log.ts";
import { pause } from "../host/pause.ts";
import type { Nats } from "../nats/connect.ts";
import type { Pool } from "../postgres/connect.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import {
  type Comparison,
  closeStores,
  compareStores,
  refreshStreamMark,
} from "./compare-stores.ts";
import { readSequences } from "./sequences.ts";
import { countBeat, markClickhouse, type PostgresMark, readPostgresMark } from "./store-marks.ts";
import { StreamMarks } from "./stream-marks.ts";
import { answerTwins, findTwin, type Twin } from "./twin.ts";

const LOOK_MS = 1_000;
const BEAT_MS = 5_000;
/** Every fifth look compares all stores, while they are equal. */
const COMPARE_MS = 4_500;
/** A store that hangs delays the end of the process by at most this. */
const CLOSE_MS_MAX = 3_000;
/** A mismatch stays until an operator acts, so it is logged again after this many comparisons. */
const LOOKS_PER_LINE = 300;
/** A process that starts waits at most this long for stores that do not answer. */
const FIRST_LOOK_MS_MAX = 5_000;
/** While an operator gives the stores a new incarnation, they differ for a moment. */
const MISMATCHES_MIN = 2;
/** A mark of Postgres that was read longer ago may be of a server that has since been replaced. */
const MARK_MS_MAX = 3_000;

export type StoreWatchOptions = {
  readonly pool: Pool;
  readonly clickhouse: Clickhouse;
  readonly log: Log;
  /** Returns undefined while there is no connection yet. Without this function, the streams are not compared. */
  readonly nats?: () => Nats | undefined;
  readonly clock?: Clock;
};

/**
 * Compares Postgres, ClickHouse and the streams every five seconds, and every second while they differ or Postgres is not as it was a second
 * before. Records the sequences of Postgres in the other two. A Postgres that is
 * behind, or has restarted, assigns no ids until this class has raised its sequences. Stores of two installations, and a store restored
 * without `tracker restored`, have different incarnations: that is logged as an error, and processes that write wait until it is cured.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #clock: Clock;
  readonly #streams: StreamMarks | undefined;
  readonly #end = new AbortController();
  #done: Promise<void> | undefined;
  #firstLook: Promise<void> | undefined;
  #mismatches = 0;
  #own: { readonly mark: PostgresMark; readonly atMs: number } | undefined;
  #twin: Twin | undefined;
  #twins: { close(): Promise<void> } | undefined;
  #onMismatch: (() => void) | undefined;
  /** When all stores were last compared and equal. */
  #equalAtMs = Number.NEGATIVE_INFINITY;
  /** Undefined while one of the stores has not answered. */
  areSame: boolean | undefined;
  /** How often this process found Postgres behind the other stores. */
  wentBack = 0;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { nats } = options;
    this.#streams = nats && new StreamMarks(nats, this.#clock);
  }

  start(): void {
    this.#firstLook = this.#lookSafely();
    this.#done = this.#run(this.#firstLook);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
    await this.#twins?.close();
  }

  /** Stops, and records a clean stop if no process of another kind runs. `applicationName` is the pool's. */
  async closeLast(applicationName: string): Promise<void> {
    await this.close();
    const { pool, clickhouse, log } = this.#options;
    const noted = closeStores(pool, clickhouse, applicationName).catch((error: unknown) => {
      // A store is away, so the next start skips some ids.
      log.info({ err: error }, "stores.end-not-noted");
    });
    const waiting = new AbortController();
    await Promise.race([noted, pause(CLOSE_MS_MAX, waiting.signal)]);
    waiting.abort();
  }

  /**
   * Waits while the stores do not belong together, and while another process uses a copy of this Postgres with the same NATS: a process that
   * wrote now would mix two installations. Does not wait for stores that are away. Then answers the processes of such a copy, and calls
   * `onMismatch` as soon as the stores do not belong together any more. Returns early when `signal` is aborted.
   */
  async untilTogether(signal: AbortSignal, onMismatch: () => void): Promise<void> {
    await Promise.race([this.#firstLook, pause(FIRST_LOOK_MS_MAX, signal)]);
    for (let round = 0; !signal.aborted; round += 1) {
      this.#twin = await this.#seekTwin();
      if (this.areSame !== false && this.#twin === undefined) break;
      if (this.#twin !== undefined && round % LOOKS_PER_LINE === 0) {
        this.#options.log.error(
          { host: this.#twin.host, todo: "tracker clone-reset, or end the other processes" },
          "stores.used-by-a-copy",
        );
      }
      await pause(LOOK_MS, signal);
    }
    if (signal.aborted) return;
    const nats = this.#options.nats?.();
    if (nats !== undefined)
      this.#twins = answerTwins(nats, () => this.#freshMark(), this.#options.log);
    this.#onMismatch = onMismatch;
  }

  /** The reason why the process waits; undefined while it need not. */
  get obstacle(): string | undefined {
    if (this.areSame === false) return "the stores do not belong together";
    return this.#twin && `processes on ${this.#twin.host} use a copy of this Postgres`;
  }

  async #seekTwin(): Promise<Twin | undefined> {
    const mark = this.#freshMark();
    const nats = this.#options.nats?.();
    return nats === undefined || mark === undefined ? undefined : await findTwin(nats, mark);
  }

  #freshMark(): PostgresMark | undefined {
    if (this.#own === undefined) return undefined;
    return Math.abs(this.#clock.nowMs() - this.#own.atMs) < MARK_MS_MAX
      ? this.#own.mark
      : undefined;
  }

  async #run(firstLook: Promise<void>): Promise<void> {
    await firstLook;
    while (!this.#end.signal.aborted) {
      await pause(LOOK_MS, this.#end.signal);
      if (!this.#end.signal.aborted) await this.#lookSafely();
    }
  }

  async #lookSafely(): Promise<void> {
    try {
      if (!(await this.#isAsBefore())) await this.look();
    } catch (error) {
      // A store is away. The code that needs it logs that.
      this.#options.log.debug({ err: error }, "stores.not-compared");
    }
  }

  /**
   * Whether the stores were equal less than five seconds ago, and Postgres is still that server and has no lower beat. So a Postgres that
   * went back is noticed within a second, by one look-up.
   */
  async #isAsBefore(): Promise<boolean> {
    const known = this.#own?.mark;
    const nowMs = this.#clock.nowMs();
    // The clock may have been set back.
    if (known === undefined || Math.abs(nowMs - this.#equalAtMs) > COMPARE_MS) return false;
    const own = await readPostgresMark(this.#options.pool);
    this.#own = { mark: own, atMs: nowMs };
    const isOpen = own.verifiedLife === own.life;
    return isOpen && isSameServer(own, known) && own.beat >= known.beat;
  }

  /** Compares them once. @throws what the drivers throw. */
  async look(): Promise<void> {
    const { pool, clickhouse } = this.#options;
    this.#equalAtMs = Number.NEGATIVE_INFINITY;
    const comparison = await compareStores(pool, clickhouse, this.#streams);
    this.areSame = comparison.found !== "strangers";
    if ("own" in comparison) this.#own = { mark: comparison.own, atMs: this.#clock.nowMs() };
    this.#say(comparison);
    if (comparison.found !== "equal") return;
    this.#mismatches = 0;
    await this.#record(comparison);
    this.#equalAtMs = this.#clock.nowMs();
  }

  async #record({ own, streams }: Extract<Comparison, { found: "equal" }>): Promise<void> {
    const { pool, clickhouse } = this.#options;
    const counted = await countBeat(pool, own, BEAT_MS);
    if (counted !== undefined) {
      this.#own = { mark: { ...own, ...counted }, atMs: this.#clock.nowMs() };
      await markClickhouse(clickhouse, counted, await readSequences(pool));
    }
    const hasNoMark = streams.is === "known" && streams.mark === undefined;
    if (this.#streams === undefined || (counted === undefined && !hasNoMark)) return;
    await refreshStreamMark(pool, this.#streams, streams);
  }

  #say(comparison: Comparison): void {
    const { log } = this.#options;
    switch (comparison.found) {
      case "equal":
      case "being-caught-up":
      case "waits-for-streams":
        return;
      case "strangers":
        this.#reportMismatch(comparison);
        return;
      case "postgres-went-back": {
        const { own, recorded, lifted } = comparison;
        this.wentBack += 1;
        const beats = (recorded?.beat ?? own.beat) - own.beat;
        log.error(
          { postgresAt: own.at, recordedAt: recorded?.at, beats, lifted },
          "stores.postgres-went-back",
        );
        return;
      }
      case "postgres-started-anew":
        log.warn({ postgresAt: comparison.own.at }, "stores.ids-left-out");
    }
  }

  #reportMismatch(found: Extract<Comparison, { found: "strangers" }>): void {
    this.#mismatches += 1;
    if (this.#mismatches >= MISMATCHES_MIN) this.#onMismatch?.();
    if (this.#mismatches % LOOKS_PER_LINE !== 1) return;
    const { own, other, otherIncarnation } = found;
    this.#options.log.error(
      {
        postgres: own.incarnation,
        other,
        otherIncarnation,
        todo: "after a restore: `tracker restored`; otherwise correct the addresses of the stores",
      },
      "stores.do-not-belong-together",
    );
  }
}

function isSameServer(one: PostgresMark, other: PostgresMark): boolean {
  return one.incarnation === other.incarnation && one.life === other.life;
}

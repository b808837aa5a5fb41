import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Log } from "../host/log.ts";
import { pause } from "../host/pause.ts";
import type { Pool } from "../postgres/connect.ts";
import { catchUpPostgres } from "./restored-postgres.ts";
import { readSequences } from "./sequences.ts";
import {
  countBeat,
  markClickhouse,
  readClickhouseMark,
  readPostgresMark,
  type StoreMark,
} from "./store-marks.ts";

const LOOK_MS = 1_000;
const BEAT_MS = 5_000;
/** A mismatch stays until somebody acts: logged again after so many looks. */
const LOOKS_A_LINE = 300;

export type StoreWatchOptions = {
  readonly pool: Pool;
  readonly clickhouse: Clickhouse;
  readonly log: Log;
};

/**
 * Compares Postgres and ClickHouse every second. A Postgres whose beat is behind was restored and nobody said so: its sequences
 * are lifted at once, before ids are given again. Stores of two installations, or one of them restored by itself with
 * `tracker restored` left undone, have different incarnations: that is an alarm, and nothing is changed.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #end = new AbortController();
  #done: Promise<void> | undefined;
  #looksWithMismatch = 0;
  /** Undefined while one of the stores has not answered. */
  areSame: boolean | undefined;
  /** How often this process met a Postgres that was behind. */
  wentBack = 0;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        // One of them is away: whoever needs it says so.
        this.#options.log.debug({ err: error }, "stores.not-compared");
      }
      await pause(LOOK_MS, this.#end.signal);
    }
  }

  /** Compares them once. @throws what the drivers throw. */
  async look(): Promise<void> {
    const { pool, clickhouse } = this.#options;
    // ClickHouse first: its mark is written after Postgres has counted, so that it is never ahead of what is read next.
    const told = await readClickhouseMark(clickhouse);
    const own = await readPostgresMark(pool);
    this.areSame = told === undefined || told.incarnation === own.incarnation;
    if (!this.areSame) {
      this.#sayMismatch(own, told);
      return;
    }
    if (told !== undefined && own.beat < told.beat) {
      await this.#catchUp(own, told);
      return;
    }
    const counted = await countBeat(pool, own, BEAT_MS);
    if (counted !== undefined) await markClickhouse(clickhouse, counted, await readSequences(pool));
  }

  async #catchUp(own: StoreMark, told: StoreMark): Promise<void> {
    const { pool, clickhouse, log } = this.#options;
    const lifted = await catchUpPostgres(pool, clickhouse);
    if (lifted === undefined) return;
    this.wentBack += 1;
    log.error(
      { postgresAt: own.at, clickhouseAt: told.at, beats: told.beat - own.beat, lifted },
      "stores.postgres-went-back",
    );
  }

  #sayMismatch(own: StoreMark, told: StoreMark | undefined): void {
    this.#looksWithMismatch += 1;
    if (this.#looksWithMismatch % LOOKS_A_LINE !== 1) return;
    const incarnations = { postgres: own.incarnation, clickhouse: told?.incarnation };
    this.#options.log.error(incarnations, "stores.do-not-belong-together");
  }
}

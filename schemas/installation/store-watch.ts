import type { Clickhouse } from "../clickhouse/connect.ts";
import type { Log } from "../host/log.ts";
import { pause } from "../host/pause.ts";
import type { Pool } from "../postgres/connect.ts";
import { type Comparison, closeStores, compareStores } from "./compare-stores.ts";
import { readSequences } from "./sequences.ts";
import { countBeat, markClickhouse } from "./store-marks.ts";

const LOOK_MS = 1_000;
const BEAT_MS = 5_000;
/** A store that hangs delays the end of the process by at most this. */
const CLOSE_MS_MAX = 3_000;
/** A mismatch stays until an operator acts, so it is logged again after this many comparisons. */
const LOOKS_PER_LINE = 300;

export type StoreWatchOptions = {
  readonly pool: Pool;
  readonly clickhouse: Clickhouse;
  readonly log: Log;
};

/**
 * Compares Postgres and ClickHouse every second, and records the sequences of Postgres in ClickHouse every 5 s. A Postgres that is behind,
 * or has restarted, assigns no ids until this class has raised its sequences. Stores of two installations, and a store restored without
 * `tracker restored`, have different incarnations: that is logged as an error and changes nothing.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #end = new AbortController();
  #done: Promise<void> | undefined;
  #looksWithMismatch = 0;
  /** Undefined while one of the stores has not answered. */
  areSame: boolean | undefined;
  /** How often this process found Postgres behind ClickHouse. */
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

  /** Stops, and records a clean stop if no process of another kind runs. `applicationName` is that of the pool. */
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

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      try {
        await this.look();
      } catch (error) {
        // A store is away. The code that needs it logs that.
        this.#options.log.debug({ err: error }, "stores.not-compared");
      }
      await pause(LOOK_MS, this.#end.signal);
    }
  }

  /** Compares them once. @throws what the drivers throw. */
  async look(): Promise<void> {
    const { pool, clickhouse } = this.#options;
    const comparison = await compareStores(pool, clickhouse);
    this.areSame = comparison.found !== "strangers";
    this.#say(comparison);
    if (comparison.found !== "equal") return;
    const counted = await countBeat(pool, comparison.own, BEAT_MS);
    if (counted !== undefined) await markClickhouse(clickhouse, counted, await readSequences(pool));
  }

  #say(comparison: Comparison): void {
    const { log } = this.#options;
    switch (comparison.found) {
      case "equal":
      case "being-caught-up":
        return;
      case "strangers":
        this.#reportMismatch(comparison);
        return;
      case "postgres-went-back": {
        const { own, recorded, lifted } = comparison;
        this.wentBack += 1;
        const beats = (recorded?.beat ?? own.beat) - own.beat;
        log.error(
          { postgresAt: own.at, clickhouseAt: recorded?.at, beats, lifted },
          "stores.postgres-went-back",
        );
        return;
      }
      case "postgres-started-anew":
        log.warn({ postgresAt: comparison.own.at }, "stores.ids-left-out");
    }
  }

  #reportMismatch({ own, recorded }: Extract<Comparison, { found: "strangers" }>): void {
    this.#looksWithMismatch += 1;
    if (this.#looksWithMismatch % LOOKS_PER_LINE !== 1) return;
    const incarnations = { postgres: own.incarnation, clickhouse: recorded.incarnation };
    this.#options.log.error(incarnations, "stores.do-not-belong-together");
  }
}

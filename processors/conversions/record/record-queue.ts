import { Batcher } from "../../../schemas/host/batcher.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { isTransactionConflict } from "../../../schemas/postgres/errors.ts";
import { retryConflicts } from "../../../schemas/postgres/retry-conflicts.ts";
import { type Recording, type RecordOutcome, recordConversions } from "./conversions.ts";
import { isStoreAway } from "./store-away.ts";

/** Rows of one transaction. The longer the queue, the more rows share a commit. */
const BATCH_ROWS_MAX = 64;
/** Postgres computes one batch while it writes another to disk. */
const BATCHES_MAX = 3;
/** An upper bound: the pools of reports and commands admit fewer. */
const WAITING_MAX = 10_000;

/**
 * Records conversions. When several are waiting they share a transaction: a quiet process records at once, a busy one shares commits.
 * If one row fails, the others are still recorded.
 */
export class RecordQueue {
  readonly #db: Queryable;
  readonly #batcher: Batcher<Recording, RecordOutcome>;

  constructor(db: Queryable) {
    this.#db = db;
    this.#batcher = new Batcher({
      flush: (batch) => this.#recordAll(batch),
      itemsMax: BATCH_ROWS_MAX,
      flushesMax: BATCHES_MAX,
      waitingMax: WAITING_MAX,
    });
  }

  /** Resolves after the commit (P14). Throws what the store throws. */
  record(recording: Recording): Promise<RecordOutcome> {
    return this.#batcher.ask(recording);
  }

  async #recordAll(
    batch: readonly Recording[],
  ): Promise<readonly (RecordOutcome | Promise<RecordOutcome>)[]> {
    try {
      return await recordConversions(this.#db, batch);
    } catch (error) {
      // An outage affects all rows, so do not try them one by one.
      if (isStoreAway(error) && !isTransactionConflict(error)) throw error;
      let before: Promise<unknown> = Promise.resolve();
      return batch.map((recording) => {
        const alone = before.then(() => this.#recordAlone(recording));
        before = alone.catch(() => undefined);
        return alone;
      });
    }
  }

  async #recordAlone(recording: Recording): Promise<RecordOutcome> {
    const [outcome] = await retryConflicts(() => recordConversions(this.#db, [recording]));
    if (outcome === undefined) throw new Error("a recording has no outcome");
    return outcome;
  }
}

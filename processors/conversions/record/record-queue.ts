import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { isTransactionConflict } from "../../../schemas/postgres/errors.ts";
import { retryConflicts } from "../../../schemas/postgres/retry-conflicts.ts";
import { type Recording, type RecordOutcome, recordConversions } from "./conversions.ts";
import { isStoreAway } from "./store-away.ts";

type Waiting = {
  readonly recording: Recording;
  readonly resolve: (outcome: RecordOutcome) => void;
  readonly reject: (error: unknown) => void;
};

/** One transaction; the more are waiting, the more share its commit. */
const BATCH_ROWS_MAX = 64;
/** One is computed while another is written to disk. */
const BATCHES_MAX = 3;

/**
 * Records conversions, several in one transaction when several are waiting: a quiet process records at once, a busy one shares
 * commits. A row that fails alone does not fail its neighbours. Who fills this bounds how many wait.
 */
export class RecordQueue {
  readonly #db: Queryable;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isTaking = false;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Answers after the commit (P14). Throws what the store throws. */
  record(recording: Recording): Promise<RecordOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ recording, resolve, reject });
      this.#takeSoon();
    });
  }

  /** After the reports that came in with this one. */
  #takeSoon(): void {
    if (this.#isTaking || this.#underWay >= BATCHES_MAX) return;
    this.#isTaking = true;
    setImmediate(() => {
      this.#isTaking = false;
      const batch = this.#waiting.splice(0, BATCH_ROWS_MAX);
      if (batch.length === 0) return;
      this.#underWay += 1;
      void this.#recordAll(batch).finally(() => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#takeSoon();
      });
      if (this.#waiting.length > 0) this.#takeSoon();
    });
  }

  /** Never throws: what goes wrong goes to those who wait. */
  async #recordAll(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await recordConversions(
        this.#db,
        batch.map(({ recording }) => recording),
      );
      batch.forEach((waiting, place) => {
        const outcome = outcomes[place];
        if (outcome !== undefined) waiting.resolve(outcome);
      });
    } catch (error) {
      // A store that is away is away for all of them.
      const isAway = isStoreAway(error) && !isTransactionConflict(error);
      if (isAway) for (const { reject } of batch) reject(error);
      else for (const waiting of batch) await this.#recordAlone(waiting);
    }
  }

  async #recordAlone({ recording, resolve, reject }: Waiting): Promise<void> {
    try {
      const [outcome] = await retryConflicts(() => recordConversions(this.#db, [recording]));
      if (outcome !== undefined) resolve(outcome);
    } catch (error) {
      reject(error);
    }
  }
}

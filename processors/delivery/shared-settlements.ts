import type { Queryable } from "../../schemas/postgres/connect.ts";
import { type Settled, type Settlement, settleDeliveries } from "./deliveries.ts";
import type { LeasedDelivery } from "./delivery.ts";

type Waiting = {
  readonly delivery: Pick<LeasedDelivery, "id" | "lease_token">;
  readonly settlement: Settlement;
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: unknown) => void;
};

/** So many hold each other's rows for a few milliseconds. */
const ROWS_A_STATEMENT = 64;

/**
 * Records results, those that come while a statement is on its way together in the next one: a commit costs more than the row.
 * They fail together too; whoever repeats one does so by itself. At most one waits for each slot.
 */
export class SharedSettlements {
  readonly #db: Queryable;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** As {@link settleDeliveries} says of one. Rejects when the statement fails. */
  async settle(delivery: Waiting["delivery"], settlement: Settlement): Promise<Settled> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ delivery, settlement, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, ROWS_A_STATEMENT);
      try {
        const settled = await settleDeliveries(this.#db, batch);
        for (const [index, { resolve }] of batch.entries()) resolve(settled[index] ?? "stale");
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
  }
}

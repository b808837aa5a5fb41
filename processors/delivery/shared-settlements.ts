import { Batcher } from "../../schemas/host/batcher.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { type Settled, type Settlement, settleDeliveries } from "./deliveries.ts";
import type { LeasedDelivery } from "./delivery.ts";
import { SLOTS_MAX } from "./delivery-slots.ts";

/** More rows would hold locks on each other for longer than a few milliseconds. */
const ROWS_PER_STATEMENT = 64;

export type SharedSettlements = Batcher<
  {
    readonly delivery: Pick<LeasedDelivery, "id" | "lease_token">;
    readonly settlement: Settlement;
  },
  Settled
>;

/**
 * Records results as {@link settleDeliveries} does. Results that arrive while a statement is under way share the next one, because a commit
 * costs more than a row. If the statement fails, all its results fail, and each caller repeats its own result with {@link settleDelivery}.
 */
export function shareSettlements(db: Queryable): SharedSettlements {
  return new Batcher({
    flush: async (batch) => {
      const settled = await settleDeliveries(db, batch);
      return batch.map((_, index) => settled[index] ?? "stale");
    },
    itemsMax: ROWS_PER_STATEMENT,
    // One result for each slot.
    waitingMax: SLOTS_MAX,
  });
}

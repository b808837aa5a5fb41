import { Batcher } from "../../schemas/host/batcher.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { type Settled, type Settlement, settleDeliveries } from "./deliveries.ts";
import type { LeasedDelivery } from "./delivery.ts";
import { SLOTS_MAX } from "./delivery-slots.ts";

/** More would lock each other's rows for longer than a few milliseconds. */
const ROWS_A_STATEMENT = 64;

export type SharedSettlements = Batcher<
  {
    readonly delivery: Pick<LeasedDelivery, "id" | "lease_token">;
    readonly settlement: Settlement;
  },
  Settled
>;

/**
 * Records results as {@link settleDeliveries} does. Those that come while a statement is under way share the next one: a commit
 * costs more than the row. They fail together too; whoever repeats one does so alone.
 */
export function shareSettlements(db: Queryable): SharedSettlements {
  return new Batcher({
    flush: async (batch) => {
      const settled = await settleDeliveries(db, batch);
      return batch.map((_, index) => settled[index] ?? "stale");
    },
    itemsMax: ROWS_A_STATEMENT,
    // One of each slot.
    waitingMax: SLOTS_MAX,
  });
}

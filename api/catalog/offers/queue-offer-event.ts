import { isDeepStrictEqual } from "node:util";
import type { Pool, Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import type { OperationContext } from "../../operation/operation.ts";
import { queueEvent } from "../../records/queue-event.ts";
import type { OfferRow } from "./offer-fields.ts";
import { lockOffer } from "./offers.ts";
import { showOffer } from "./show-offer.ts";

type Caller = Pick<OperationContext, "principal" | "workspace" | "requestId" | "trace">;

/** Queues `offer.created`. The document is the offer as the answer shows it, because only admin keys write offers. */
export async function queueOfferCreated(
  tx: Queryable,
  caller: Caller,
  offer: OfferRow,
): Promise<void> {
  await queueEvent(tx, caller, "offer.created", () => ({
    data: showOffer(caller.principal, offer),
  }));
}

/** Queues `offer.updated`. */
export async function queueOfferUpdated(
  tx: Queryable,
  caller: Caller,
  { before, after }: { readonly before: OfferRow; readonly after: OfferRow },
): Promise<void> {
  await queueEvent(tx, caller, "offer.updated", () => ({
    data: showOffer(caller.principal, after),
    before: showOffer(caller.principal, before),
  }));
}

/** Runs a change of an offer's events in a transaction that queues `offer.updated`. The events are part of the offer. */
export async function inTransactionWithEvent<T>(
  context: Caller & { readonly db: Pool },
  offerId: number,
  change: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return await inTransaction(context.db, async (tx) => {
    const before = await lockOffer(tx, offerId);
    const result = await change(tx);
    const after = await lockOffer(tx, offerId);
    const isThere = before !== undefined && after !== undefined;
    if (isThere && !isDeepStrictEqual(before, after))
      await queueOfferUpdated(tx, context, { before, after });
    return result;
  });
}

import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { ManagedTable } from "../../records/managed-table.ts";
import { type EventRow, PatchEventBody } from "./offer-fields.ts";

/** The events of an offer. The name of their unique index is `offer_event_offer_id_code_key`. */
export const eventTable = new ManagedTable<EventRow>({
  table: "offer_event",
  owner: "offer_id",
  written: Object.keys(PatchEventBody.shape),
  setOnCreate: ["code", "is_default"],
  readOnly: ["id", "code", "is_default"],
});

/**
 * Returns what still uses the event, for the message: conversions, partners' own terms or postbacks (G44). Not for the default event,
 * which is always used: the index `conversion_of_event` leaves it out.
 */
export async function findUseOfEvent(
  tx: Queryable,
  offerId: number,
  code: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ found: string }>({
    name: "find-user-of-event",
    text: `select 'conversions' as found where exists (
             select from conversion where offer_id = $1 and event_code = $2 and event_code <> 'default')
           union all
           select 'terms of partners' where exists (select from payout_override where offer_id = $1 and event_code = $2)
           union all
           select 'postbacks' where exists (select from postback where offer_id = $1 and event_code = $2)`,
    values: [offerId, code],
  });
  return rows[0]?.found;
}

type Terms = Pick<EventRow, "revenue_type" | "revenue" | "payout_type" | "payout">;

/** Copies the terms of the offer to its default event, in the same transaction. */
export async function setTermsOfDefaultEvent(
  db: Queryable,
  offerId: number,
  terms: Terms,
): Promise<void> {
  await db.query({
    name: "set-terms-of-default-event",
    text: `update offer_event set revenue_type = $2, revenue = $3, payout_type = $4, payout = $5,
             updated_at = clock_timestamp()
           where offer_id = $1 and is_default`,
    values: [offerId, terms.revenue_type, terms.revenue, terms.payout_type, terms.payout],
  });
}

/** A changed event also changes its offer, so the offer's `updated_at` moves too. */
export async function touchOffer(db: Queryable, offerId: number): Promise<void> {
  await db.query({
    name: "touch-offer",
    text: "update offer set updated_at = clock_timestamp() where id = $1",
    values: [offerId],
  });
}

import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { EventRow } from "./offers.ts";

export type EventValues = Omit<EventRow, "id">;

/** @throws a unique violation of `offer_event_offer_id_code_key`. */
export async function insertEvent(
  db: Queryable,
  offerId: number,
  event: EventValues,
): Promise<EventRow> {
  const { rows } = await db.query<EventRow>({
    name: "insert-offer-event",
    text: `insert into offer_event (offer_id, code, name, revenue_type, revenue, payout_type, payout, is_default, is_private,
             allow_multiple)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           returning id, code, name, revenue_type, revenue, payout_type, payout, is_default, is_private, allow_multiple`,
    values: [
      offerId,
      event.code,
      event.name,
      event.revenue_type,
      event.revenue,
      event.payout_type,
      event.payout,
      event.is_default,
      event.is_private,
      event.allow_multiple,
    ],
  });
  const row = rows[0];
  if (row === undefined) throw new Error("an insert answers its row");
  return row;
}

/** Undefined when the offer has no event with the code. Nobody else changes it until the end of the transaction. */
export async function lockEvent(
  tx: Queryable,
  offerId: number,
  code: string,
): Promise<EventRow | undefined> {
  const { rows } = await tx.query<EventRow>({
    name: "lock-offer-event",
    text: `select id, code, name, revenue_type, revenue, payout_type, payout, is_default, is_private, allow_multiple
           from offer_event where offer_id = $1 and code = $2 for update`,
    values: [offerId, code],
  });
  return rows[0];
}

export async function updateEvent(tx: Queryable, event: EventRow): Promise<void> {
  await tx.query({
    name: "update-offer-event",
    text: `update offer_event set name = $2, revenue_type = $3, revenue = $4, payout_type = $5, payout = $6, is_private = $7,
             allow_multiple = $8, updated_at = clock_timestamp()
           where id = $1`,
    values: [
      event.id,
      event.name,
      event.revenue_type,
      event.revenue,
      event.payout_type,
      event.payout,
      event.is_private,
      event.allow_multiple,
    ],
  });
}

export async function deleteEvent(tx: Queryable, id: number): Promise<void> {
  await tx.query({
    name: "delete-offer-event",
    text: "delete from offer_event where id = $1",
    values: [id],
  });
}

/** A word for what needs the event: conversions, partners' own terms, postbacks (G44). */
export async function findUserOfEvent(
  tx: Queryable,
  offerId: number,
  code: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ found: string }>({
    name: "find-user-of-event",
    text: `select 'conversions' as found where exists (select from conversion where offer_id = $1 and event_code = $2)
           union all
           select 'terms of partners' where exists (select from payout_override where offer_id = $1 and event_code = $2)
           union all
           select 'postbacks' where exists (select from postback where offer_id = $1 and event_code = $2)`,
    values: [offerId, code],
  });
  return rows[0]?.found;
}

type Terms = Pick<EventRow, "revenue_type" | "revenue" | "payout_type" | "payout">;

/** The default event has the terms of its offer, in the same transaction. */
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

/** An event changes what its offer is: the offer's `updated_at` moves too. */
export async function touchOffer(db: Queryable, offerId: number): Promise<void> {
  await db.query({
    name: "touch-offer",
    text: "update offer set updated_at = clock_timestamp() where id = $1",
    values: [offerId],
  });
}

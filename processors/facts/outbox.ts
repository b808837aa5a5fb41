import type { Queryable } from "../../schemas/postgres/connect.ts";

/** One pending copy; several of the same conversion may be waiting. */
export type PendingFact = { readonly outbox_id: number; readonly conversion_id: string };

/** A conversion as the table `conversion_fact` takes it: numbers, texts, and money as decimal text. */
export type ConversionFact = {
  readonly id: string;
  readonly workspace_id: number;
  readonly conv_ts: string;
  readonly version: number;
  readonly click: Readonly<Record<string, string>>;
  readonly [column: string]: unknown;
};

/**
 * Takes or keeps the right to copy, for `leaseMs`. One process holds it; when it stops renewing, another takes over. A copy
 * made by two processes does no harm, so the lease needs no fence.
 */
export async function holdRelayLease(
  db: Queryable,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "hold-relay-lease",
    text: `update fact_relay_lease set owner = $1, expires_at = clock_timestamp() + $2::integer * interval '1 millisecond'
           where id = 1 and (owner = $1 or expires_at < clock_timestamp())`,
    values: [owner, leaseMs],
  });
  return rowCount === 1;
}

/** Lets another process begin at once. */
export async function releaseRelayLease(db: Queryable, owner: string): Promise<void> {
  await db.query({
    name: "release-relay-lease",
    text: "update fact_relay_lease set expires_at = '-infinity' where id = 1 and owner = $1",
    values: [owner],
  });
}

/** The oldest changes that ClickHouse has not seen. */
export async function listPendingFacts(db: Queryable, limit: number): Promise<PendingFact[]> {
  const { rows } = await db.query<PendingFact>({
    name: "list-pending-facts",
    text: "select id as outbox_id, conversion_id from conversion_fact_outbox order by id limit $1",
    values: [limit],
  });
  return rows;
}

/** Conversions as they are now: at least as new as the changes that name them. */
export async function readConversionFacts(
  db: Queryable,
  ids: readonly string[],
): Promise<ConversionFact[]> {
  const { rows } = await db.query<ConversionFact>({
    name: "read-conversion-facts",
    text: `select workspace_id, conv_ts, id, version, coalesce(click_id, '') as click_id, click_ts, offer_id,
             coalesce(affiliate_id, 0) as affiliate_id, advertiser_id, coalesce(smart_link_id, 0) as smart_link_id,
             event_code, is_private, status, status_reason, is_duplicate, revenue, payout, sale_amount, currency, method,
             click
           from conversion where id = any($1::uuid[])`,
    values: [ids],
  });
  return rows;
}

/** Forgets changes that ClickHouse has confirmed. */
export async function deletePendingFacts(
  db: Queryable,
  outboxIds: readonly number[],
): Promise<void> {
  await db.query({
    name: "delete-pending-facts",
    text: "delete from conversion_fact_outbox where id = any($1::bigint[])",
    values: [outboxIds],
  });
}

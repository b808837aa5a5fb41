import type { Queryable } from "../../schemas/postgres/connect.ts";
import type { FactSource, PendingFact } from "./fact-source.ts";

/** Ad costs, for reports. */
export const adCostFacts: FactSource = {
  table: "ad_cost_fact",
  listPending,
  readRows,
  deletePending,
};

async function listPending(db: Queryable, limit: number): Promise<PendingFact[]> {
  const { rows } = await db.query<PendingFact>({
    name: "list-pending-ad-costs",
    text: "select id as outbox_id, ad_cost_id::text as id from ad_cost_fact_outbox order by id limit $1",
    values: [limit],
  });
  return rows;
}

/** Money stays decimal text. */
async function readRows(db: Queryable, ids: readonly string[]): Promise<Record<string, unknown>[]> {
  const { rows } = await db.query<Record<string, unknown>>({
    name: "read-ad-costs",
    text: `select workspace_id, to_char(date + coalesce(hour, 0) * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS') as wall_time, id,
             version, coalesce(offer_id, 0) as offer_id, coalesce(affiliate_id, 0) as affiliate_id,
             coalesce(advertiser_id, 0) as advertiser_id, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount
           from ad_cost where id = any($1::bigint[])`,
    values: [ids],
  });
  return rows;
}

async function deletePending(db: Queryable, outboxIds: readonly number[]): Promise<void> {
  await db.query({
    name: "delete-pending-ad-costs",
    text: "delete from ad_cost_fact_outbox where id = any($1::bigint[])",
    values: [outboxIds],
  });
}

import type { FactSource } from "./fact-source.ts";

/** Ad costs, for reports. Money stays decimal text. */
export const adCostFacts: FactSource = {
  table: "ad_cost_fact",
  reference: "ad_cost_id",
  readRows: async (db, ids) => {
    const { rows } = await db.query<Record<string, unknown>>({
      name: "read-ad-costs",
      text: `select workspace_id, to_char(date + coalesce(hour, 0) * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS') as wall_time, id,
               version, coalesce(offer_id, 0) as offer_id, coalesce(affiliate_id, 0) as affiliate_id,
               coalesce(advertiser_id, 0) as advertiser_id, traffic_source, ext_campaign_id, ext_adgroup_id, currency, amount
             from ad_cost where id = any($1::bigint[])`,
      values: [ids],
    });
    return rows;
  },
};

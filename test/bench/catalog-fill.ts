import type { Pool } from "../../schemas/postgres/connect.ts";

/** The record counts of a large installation. */
export const LARGE_CATALOG_COUNTS = {
  advertisers: 400,
  offers: 20_000,
  /** The default event of each offer, and a second event of every fifth offer. */
  events: 24_000,
  affiliates: 50_000,
  access: 500_000,
  overrides: 20_000,
  linkKeys: 5_000,
  smartLinks: 500,
  trafficControls: 50,
  coupons: 5_000,
} as const;

/** Texts are as long as real ones: names of 30 characters, destinations of 110 with macros. */
const STATEMENTS: readonly string[] = [
  `insert into advertiser (workspace_id, name, currency, postback_token)
   select w.id, 'Advertiser ' || n || ' Holding GmbH', 'USD', md5('advertiser' || n)
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.advertisers}) n`,
  `insert into offer (workspace_id, advertiser_id, code, name, visibility, destination_url, fallback_url, allowed_domains,
     currency, payout, revenue, caps, targeting, duplicate_click_seconds)
   select w.id, (select min(id) from advertiser where name like 'Advertiser %') + n % ${LARGE_CATALOG_COUNTS.advertisers},
     upper(substr(md5('offer' || n), 1, 8)), 'Offer ' || n || ': spring sale of the year',
     case n % 4 when 0 then 'public' when 1 then 'private' else 'approval' end,
     'https://shop' || n % 3000 || '.example.com/landing/' || n || '?utm_source=partner&clickid={click_id}&s1={sub1}&s2={sub2}&aff={affiliate_code}',
     case when n % 3 = 0 then 'https://shop' || n % 3000 || '.example.com/not-available' else '' end,
     array['shop' || n % 3000 || '.example.com'], (array['USD', 'EUR', 'GBP'])[1 + n % 3], 1 + n % 20, 2 + n % 30,
     case n % 5 when 0 then '{"conversions": {"daily": 500}}'::jsonb when 1 then '{"clicks": {"daily": 1000000000}}'::jsonb else '{}' end,
     case n % 3 when 0 then '{"countries_deny": ["AQ", "KP"], "devices_deny": ["tablet"]}'::jsonb
                when 1 then '{"browsers_deny": ["Lynx", "Links"], "os_deny": ["BeOS"]}'::jsonb else '{}' end,
     0
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.offers}) n`,
  `insert into offer_event (offer_id, code, name, revenue, payout, is_default)
   select id, 'default', 'Default', revenue, payout, true from offer where name like 'Offer %'`,
  `insert into offer_event (offer_id, code, name, revenue, payout)
   select id, 'upsell', 'Upsell', revenue, payout from offer where name like 'Offer %' and id % 5 = 0`,
  `insert into affiliate (workspace_id, code, name, currency)
   select w.id, upper(substr(md5('partner' || n), 1, 10)), 'Partner ' || n || ' Media Limited', 'USD'
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.affiliates}) n`,
  // Many partners have a few offers, some have hundreds.
  `insert into offer_access (offer_id, affiliate_id, status, decided_at)
   select (select min(id) from offer where name like 'Offer %') + n % ${LARGE_CATALOG_COUNTS.offers},
     (select min(id) from affiliate where name like 'Partner %') + (n / 20000 * 1987 + n % 20000 * 7) % ${LARGE_CATALOG_COUNTS.affiliates},
     case n % 25 when 0 then 'pending' when 1 then 'rejected' else 'approved' end, now()
   from generate_series(0, ${LARGE_CATALOG_COUNTS.access - 1}) n`,
  `insert into payout_override (workspace_id, offer_id, affiliate_id, payout_type, payout)
   select o.workspace_id, a.offer_id, a.affiliate_id, 'cpa', 3.5
   from offer_access a join offer o on o.id = a.offer_id
   where a.status = 'approved' order by a.affiliate_id, a.offer_id limit ${LARGE_CATALOG_COUNTS.overrides}`,
  `insert into link_key (workspace_id, key, offer_id, affiliate_id)
   select o.workspace_id, md5('key' || a.offer_id || '-' || a.affiliate_id), a.offer_id, a.affiliate_id
   from offer_access a join offer o on o.id = a.offer_id
   where a.status = 'approved' order by a.offer_id, a.affiliate_id limit ${LARGE_CATALOG_COUNTS.linkKeys}`,
  `insert into smart_link (workspace_id, code, name, rules)
   select w.id, 'SMART' || n, 'Smart link ' || n, jsonb_build_array(jsonb_build_object('name', 'all', 'conditions', '{}'::jsonb,
     'offers', (select jsonb_agg(jsonb_build_object('offer_id', id, 'weight', 1))
                from (select id from offer where name like 'Offer %' and visibility = 'public' order by id offset n * 4 limit 4) o)))
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.smartLinks}) n`,
  `insert into traffic_control (workspace_id, name, action, conditions)
   select w.id, 'Control ' || n, 'block', jsonb_build_object('source_ids', jsonb_build_array('bad-source-' || n))
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.trafficControls}) n`,
  `insert into coupon (workspace_id, code, affiliate_id)
   select w.id, 'SAVE' || n, (select min(id) from affiliate where name like 'Partner %') + n
   from workspace w, generate_series(1, ${LARGE_CATALOG_COUNTS.coupons}) n`,
  "analyze",
];

/** Fills the demo workspace, which must be the only workspace. */
export async function fillLargeCatalog(pool: Pool): Promise<void> {
  for (const text of STATEMENTS) await pool.query({ text });
}

export type BenchLink = { readonly offerId: number; readonly path: string };

/**
 * `count` partner links that redirect visitors, the same ones on each call: half of them public offers with any partner, the other half
 * offers with a partner whose access was approved.
 */
export async function pickLinks(pool: Pool, count: number): Promise<BenchLink[]> {
  const { rows } = await pool.query<BenchLink>({
    text: `
      with o as materialized (select id, code, row_number() over (order by id) - 1 as place
                              from offer where status = 'active' and visibility = 'public'),
           f as materialized (select id, code, row_number() over (order by id) - 1 as place
                              from affiliate where status = 'active'),
           p as materialized (select offer_id, affiliate_id, row_number() over (order by offer_id, affiliate_id) - 1 as place
                              from offer_access where status = 'approved')
      select o.id as "offerId", '/r/' || o.code || '/' || f.code as path
      from generate_series(1, $1 / 2) n
      join o on o.place = n % (select count(*) from o)
      join f on f.place = n * 7919::bigint % (select count(*) from f)
      union all
      select o.id, '/r/' || o.code || '/' || f.code
      from generate_series(1, $1 / 2) n
      join p on p.place = n * 7907::bigint % (select count(*) from p)
      join offer o on o.id = p.offer_id
      join affiliate f on f.id = p.affiliate_id`,
    values: [count],
  });
  return rows;
}

/** Adds offers and affiliates to the only workspace. Returns the link of each affiliate to each offer. */
export async function addLinks(
  pool: Pool,
  { offers, affiliates }: { readonly offers: number; readonly affiliates: number },
): Promise<BenchLink[]> {
  await pool.query({
    text: `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, payout, revenue)
      select w.id, (select min(id) from advertiser), 'BENCH' || n, 'Bench ' || n,
        'https://shop.example.com/landing/' || n || '?utm_source=partner&clickid={click_id}&s1={sub1}', 'USD', 1, 2
      from workspace w, generate_series(1, $1) n`,
    values: [offers],
  });
  await pool.query({
    text: `insert into offer_event (offer_id, code, name, revenue, payout, is_default)
      select id, 'default', 'Default', revenue, payout, true from offer where name like 'Bench %'`,
  });
  await pool.query({
    text: `insert into affiliate (workspace_id, code, name, currency)
      select w.id, 'BENCHP' || n, 'Bench ' || n, 'USD' from workspace w, generate_series(1, $1) n`,
    values: [affiliates],
  });
  const { rows } = await pool.query<BenchLink>({
    text: `select o.id as "offerId", '/r/' || o.code || '/' || a.code as path
      from offer o, affiliate a where o.name like 'Bench %' and a.name like 'Bench %' order by o.id, a.id`,
  });
  return rows;
}

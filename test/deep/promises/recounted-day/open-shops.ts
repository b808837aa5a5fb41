import { z } from "zod";
import type { Pool } from "../../../../schemas/postgres/connect.ts";
import type { ServiceClient } from "../../../system/service.ts";
import { until } from "../../../system/until.ts";
import { type AdvertiserName, type Partner, planShops, RATES, type Shop } from "./shop.ts";

const APPLIED_MS = 15_000;
const PROBES = 10;
/** The only address that may send reports for the advertiser "listed". */
export const LISTED_IP = "198.51.100.7";

const Created = z.object({ data: z.object({ id: z.int() }) });

export type Opened = {
  readonly shops: readonly Shop[];
  readonly partners: readonly Partner[];
  readonly advertisers: Readonly<Record<AdvertiserName, number>>;
};
type Plan = ReturnType<typeof planShops>[number];
type Connections = { readonly pool: Pool; readonly client: ServiceClient };

/**
 * Makes the offers of the day in the demo workspace. They use its keys and its first partner and advertiser. Returns when every
 * process has applied them.
 */
export async function openShops(
  connections: Connections,
  options: { readonly orders: number; readonly repeats: number },
): Promise<Opened> {
  const { pool } = connections;
  for (const [currency, rate] of Object.entries(RATES).slice(1)) {
    // The older rate must not be used.
    for (const [daysAgo, factor] of [
      [3, 2],
      [1, 1],
    ]) {
      await pool.query({
        text: "insert into fx_rate (date, currency, rate) values ((now() at time zone 'UTC')::date - $1::integer, $2, $3::numeric * $4::integer)",
        values: [daysAgo, currency, rate, factor],
      });
    }
  }
  const partners = await findPartners(pool);
  const advertisers = await makeAdvertisers(connections);
  const plans = planShops(options.orders);
  const shops: Shop[] = [];
  for (let repeat = 0; repeat < options.repeats; repeat += 1) {
    for (const plan of plans)
      shops.push(
        await openShop(connections, { plan, number: shops.length, advertisers, partners }),
      );
  }
  await untilApplied(connections, partners);
  return { shops, partners, advertisers };
}

async function findPartners(pool: Pool): Promise<Partner[]> {
  await pool.query({
    text: "update affiliate set throttle_percent = 100 where code = 'DEMOCLEO'",
  });
  const { rows } = await pool.query<Partner>({
    text: `select id, code, throttle_percent = 100 as "isThrottled" from affiliate where code like 'DEMO%' order by code`,
  });
  return rows;
}

async function makeAdvertisers({
  pool,
  client,
}: Connections): Promise<Readonly<Record<AdvertiserName, number>>> {
  const { rows } = await pool.query<{ id: number }>({
    text: "select id from advertiser where postback_token = $1",
    values: [client.demo.advertiser_postback_token],
  });
  const made = async (name: string): Promise<number> =>
    Created.parse(await client.create("/advertisers", { name })).data.id;
  const ids = { own: rows[0]?.id ?? 0, other: await made("Others"), listed: await made("Listed") };
  await pool.query({
    text: "update advertiser set postback_ip_allowlist = $2 where id = $1",
    values: [ids.listed, [LISTED_IP]],
  });
  return ids;
}

async function openShop(
  { pool, client }: Connections,
  of: {
    readonly plan: Plan;
    readonly number: number;
    readonly advertisers: Readonly<Record<AdvertiserName, number>>;
    readonly partners: readonly Partner[];
  },
): Promise<Shop> {
  const { plan, number, advertisers, partners } = of;
  const [main, ...further] = plan.events;
  if (main === undefined) throw new Error(`${plan.name} has no event`);
  const { code: _, ...terms } = main;
  const code = `DAY${number}`;
  const answer = await client.create("/offers", {
    ...terms,
    code,
    name: plan.name,
    advertiser_id: advertisers[plan.advertiser],
    destination_url: "https://shop.example/?c={click_id}",
    currency: plan.currency,
    unique_per_click: plan.isOncePerClick,
    default_status: plan.defaultStatus,
    events: further.map((event) => ({ ...event, name: event.code })),
    caps: capsOf(plan),
  });
  const { id } = Created.parse(answer).data;
  await pool.query({
    text: "update offer set hold_days = $2, min_seconds_to_conversion = $3, fraud_checks = $4 where id = $1",
    values: [
      id,
      plan.isHolding ? 1 : 0,
      plan.isTooFast ? 86_400 : 0,
      plan.countsAddresses ? JSON.stringify({ bot: true, duplicate_conv_ip: 1 }) : null,
    ],
  });
  const shop = { ...plan, id, code, coupon: `COUPON${number}` };
  await addOverrides(pool, shop, partners);
  await insert(pool, "coupon", {
    code: shop.coupon,
    offer_id: id,
    affiliate_id: partners[0]?.id,
  });
  await addRules(pool, shop);
  return shop;
}

function capsOf({ caps: { conversions, payout, alertOnly } }: Plan): object {
  return {
    ...(conversions === undefined ? {} : { conversions: { total: conversions } }),
    ...(payout === undefined ? {} : { payout: { total: payout } }),
    ...(alertOnly === true ? { alert_only: true } : {}),
  };
}

async function addOverrides(pool: Pool, shop: Shop, partners: readonly Partner[]): Promise<void> {
  const { id } = shop;
  for (const { partner, event_code, payout: pays, revenue } of shop.overrides) {
    await insert(pool, "payout_override", {
      offer_id: id,
      affiliate_id: partners[partner]?.id,
      event_code,
      payout_type: pays?.[0] ?? null,
      payout: pays?.[1] ?? null,
      revenue_type: revenue?.[0] ?? null,
      revenue: revenue?.[1] ?? null,
    });
  }
}

async function addRules(pool: Pool, plan: Shop): Promise<void> {
  const { id } = plan;
  if (plan.rejectsSalesFrom !== undefined) {
    await insert(pool, "conversion_rule", {
      name: "too dear",
      position: 1,
      action: "reject",
      conditions: JSON.stringify({ offer_ids: [id], min_sale_amount: plan.rejectsSalesFrom }),
    });
  }
  if (plan.holdsEvent !== undefined) {
    await insert(pool, "conversion_rule", {
      name: "review",
      position: 2,
      action: "hold",
      conditions: JSON.stringify({ offer_ids: [id], event_codes: [plan.holdsEvent] }),
    });
  }
}

async function insert(
  pool: Pool,
  table: string,
  columns: Readonly<Record<string, unknown>>,
): Promise<void> {
  const names = Object.keys(columns);
  await pool.query({
    text: `insert into ${table} (workspace_id, ${names.join(", ")})
           select id, ${names.map((_, at) => `$${at + 1}`).join(", ")} from workspace where slug = 'demo'`,
    values: Object.values(columns),
  });
}

/** Catalog changes are applied in order: a process that has the last record has all of them. */
async function untilApplied({ client }: Connections, partners: readonly Partner[]): Promise<void> {
  const { tracking_url: tracking, postback_token: token } = client.demo;
  const code = "DAYISOPEN";
  await client.create("/offers", {
    code,
    name: code,
    destination_url: "https://shop.example/",
    advertiser_id: Created.parse(await client.create("/advertisers", { name: "Last" })).data.id,
  });
  const query = new URLSearchParams({
    token,
    test: "1",
    offer_id: code,
    aff_id: partners[0]?.code ?? "",
  });
  const click = new URLSearchParams({ token, oid: code, affid: partners[0]?.code ?? "" });
  await until(
    "the offers of the day are applied",
    async () => {
      for (let probe = 0; probe < PROBES; probe += 1) {
        const report = await client.attempt(`${tracking}/pb?${query}`);
        const clicked = await client.attempt(`${tracking}/clk?${click}`);
        if (!report.body.includes('"ok":true') || !clicked.body.includes('"error_code":0'))
          return false;
      }
      return true;
    },
    { timeoutMs: APPLIED_MS },
  );
}

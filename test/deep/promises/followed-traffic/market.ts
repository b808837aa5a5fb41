import { z } from "zod";
import { insertKey } from "../../../../api/access/insert-key.ts";
import { createWorkspace } from "../../../../api/cli/workspaces.ts";
import type { Pool } from "../../../../schemas/postgres/connect.ts";
import type { Role } from "../../../integration/reports/recount-sums.ts";
import { metricAt } from "../../../services/metric-at.ts";
import { opsPortsOf } from "../../../system/ops-ports.ts";
import { ServiceClient } from "../../../system/service.ts";
import type { System } from "../../../system/start-system.ts";
import { until } from "../../../system/until.ts";

const APPLIED_MS = 15_000;
const ZONE = "Asia/Kathmandu";
/** Fallback URL for visitors that an offer does not accept. */
export const SORRY = "https://sorry.example/";

type Status = "approved" | "pending" | "rejected";
/** `cpa`: a fixed price · `cps`: percent of the sale · `cpc`: a price for each unique click. */
export type Terms = {
  readonly payoutType: "cpa" | "cps" | "cpc";
  readonly payout: string;
  readonly revenueType: "rpa" | "rps" | "rpc";
  readonly revenue: string;
};
type EventPlan = Terms & {
  readonly code: string;
  readonly isPrivate?: boolean;
  readonly allowMultiple?: boolean;
};
type OfferPlan = {
  readonly code: string;
  /** Index in the list of advertisers. */
  readonly advertiser: 0 | 1;
  readonly currency: string;
  /** The first event is the default one. */
  readonly events: readonly EventPlan[];
  readonly defaultStatus?: Status;
  readonly isPaused?: boolean;
  /** The only country whose visitors the offer accepts. */
  readonly country?: string;
};
export type Offer = OfferPlan & { readonly id: number; readonly advertiserId: number };
export type Partner = { readonly id: number; readonly code: string };

/** A new workspace in the running service that holds only what its ledger records. */
export type Market = {
  readonly client: ServiceClient;
  readonly workspaceId: number;
  readonly host: string;
  readonly token: string;
  readonly offers: readonly Offer[];
  readonly partners: readonly Partner[];
  readonly smartLink: { readonly id: number; readonly code: string };
  readonly keys: Readonly<Record<Role, string>>;
  /** The record that each partner's or advertiser's key belongs to. */
  readonly owners: Readonly<Record<Role, number>>;
};

const CPA: EventPlan = {
  code: "default",
  payoutType: "cpa",
  payout: "10.0101",
  revenueType: "rpa",
  revenue: "15.1515",
};
const SALE: EventPlan = {
  code: "sale",
  payoutType: "cps",
  payout: "7.7777",
  revenueType: "rps",
  revenue: "12.3457",
};
const SECRET: EventPlan = {
  code: "secret",
  payoutType: "cpa",
  payout: "1.1111",
  isPrivate: true,
  revenueType: "rps",
  revenue: "0.5000",
};
const AGAIN: EventPlan = {
  code: "again",
  payoutType: "cps",
  payout: "33.3333",
  allowMultiple: true,
  revenueType: "rpa",
  revenue: "0.0007",
};
const CLICK: EventPlan = {
  code: "default",
  payoutType: "cpc",
  payout: "0.0301",
  revenueType: "rpc",
  revenue: "0.1303",
};
const OFFERS: readonly OfferPlan[] = [
  { code: "OPEN", advertiser: 0, currency: "USD", events: [CPA, SALE, SECRET, AGAIN] },
  {
    code: "SHARE",
    advertiser: 1,
    currency: "EUR",
    events: [{ ...SALE, code: "default" }, SECRET],
  },
  { code: "BYCLICK", advertiser: 0, currency: "GBP", events: [CLICK, SALE] },
  {
    code: "REVIEWED",
    advertiser: 1,
    currency: "USD",
    defaultStatus: "pending",
    events: [CPA, AGAIN],
  },
  { code: "PAUSED", advertiser: 0, currency: "USD", events: [CPA], isPaused: true },
  { code: "ABROAD", advertiser: 1, currency: "EUR", events: [CPA, SALE], country: "US" },
];
const PARTNERS = ["ANNA01", "BERND2", "CLARA3"];

const Created = z.object({ data: z.object({ id: z.int() }) });
const PostbackAnswer = z.object({ ok: z.boolean() });

/** Makes the workspace. Returns when every process has applied it. The caller closes its client. */
export async function openMarket(pool: Pool, system: System): Promise<Market> {
  const { client: demo } = system;
  const host = "market.traffic.example";
  const made = await createWorkspace(pool, {
    name: "Market",
    slug: "market",
    timezone: ZONE,
    currency: "USD",
  });
  const client = new ServiceClient({
    ...demo.demo,
    keys: { ...demo.demo.keys, admin: made.adminKey },
  });
  const create = async (path: string, body: object): Promise<number> =>
    Created.parse(await client.create(path, body)).data.id;
  // The workspace does not get the host by default, because the demo workspace existed first (G200).
  await create("/tracking-domains", { host, scheme: "http", is_default: true });
  const partners: Partner[] = [];
  for (const code of PARTNERS)
    partners.push({ code, id: await create("/affiliates", { code, name: code }) });
  const advertisers = [
    await create("/advertisers", { name: "First" }),
    await create("/advertisers", { name: "Second" }),
  ];
  const offers: Offer[] = [];
  for (const plan of OFFERS) {
    const advertiserId = advertisers[plan.advertiser] ?? 0;
    offers.push({
      ...plan,
      advertiserId,
      id: await create("/offers", offerBody(plan, advertiserId)),
    });
  }
  const key = (role: "analyst" | "partner" | "advertiser", owner: object): Promise<string> =>
    insertKey(pool, { workspaceId: made.id, name: role, role, ...owner });
  const owners = { staff: 0, partner: partners[0]?.id ?? 0, advertiser: advertisers[0] ?? 0 };
  const market = {
    client,
    workspaceId: made.id,
    host,
    token: made.postbackToken,
    offers,
    partners,
    owners,
    smartLink: await makeSmartLink(pool, made.id, offers),
    keys: {
      staff: await key("analyst", {}),
      partner: await key("partner", { affiliateId: owners.partner }),
      advertiser: await key("advertiser", { advertiserId: owners.advertiser }),
    },
  };
  await untilApplied(pool, market, system);
  return market;
}

function offerBody(plan: OfferPlan, advertiserId: number): object {
  const [main, ...further] = plan.events.map(({ code, ...terms }) => ({
    code,
    name: code,
    payout_type: terms.payoutType,
    payout: terms.payout,
    revenue_type: terms.revenueType,
    revenue: terms.revenue,
    is_private: terms.isPrivate ?? false,
    allow_multiple: terms.allowMultiple ?? false,
  }));
  const { code: _code, name: _name, is_private: _p, allow_multiple: _m, ...terms } = main ?? {};
  return {
    ...terms,
    code: plan.code,
    name: `Offer ${plan.code}`,
    currency: plan.currency,
    events: further,
    destination_url: "https://shop.example/?offer={offer_code}&cid={click_id}",
    fallback_url: `${SORRY}?offer={offer_code}&cid={click_id}`,
    advertiser_id: advertiserId,
    default_status: plan.defaultStatus ?? "approved",
    ...(plan.isPaused === true ? { status: "paused" } : {}),
    ...(plan.country === undefined ? {} : { targeting: { countries_allow: [plan.country] } }),
  };
}

/** Its first offer is paused, so every visitor goes to the second. */
async function makeSmartLink(
  pool: Pool,
  workspaceId: number,
  offers: readonly Offer[],
): Promise<Market["smartLink"]> {
  const of = (code: string) => ({
    offer_id: offers.find((one) => one.code === code)?.id,
    weight: 1,
  });
  const rules = [{ name: "all", conditions: {}, offers: [of("PAUSED"), of("SHARE")] }];
  const { rows } = await pool.query<{ id: number }>({
    text: `insert into smart_link (workspace_id, code, name, status, mode, rules)
           values ($1, 'BEST', 'Best', 'active', 'waterfall', $2) returning id`,
    values: [workspaceId, JSON.stringify(rules)],
  });
  return { id: rows[0]?.id ?? 0, code: "BEST" };
}

/** Catalog changes are applied in order: a process that has the last record has all of them. */
async function untilApplied(pool: Pool, market: Market, system: System): Promise<void> {
  const { client, token, host, partners } = market;
  const { tracking_url: tracking } = client.demo;
  const { rows } = await pool.query<{ version: number }>({
    text: "select last_value as version from catalog_version",
  });
  const ports = await opsPortsOf(system);
  const query = new URLSearchParams({
    token,
    test: "1",
    offer_id: market.offers.at(-1)?.code ?? "",
    aff_id: partners.at(-1)?.code ?? "",
  });
  await until(
    "the market is applied",
    async () => {
      const applied = await metricAt(ports.get("ingress-0") ?? 0, "catalog_version");
      const report = await client.attempt(`${tracking}/pb?${query}`, { host });
      const isAccepted = PostbackAnswer.parse(JSON.parse(report.body)).ok;
      return applied >= (rows[0]?.version ?? 0) && isAccepted;
    },
    { timeoutMs: APPLIED_MS },
  );
}

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Principal } from "../../../api/access/principal.ts";
import { listAdvertisers } from "../../../api/advertisers/advertisers.ts";
import { listAffiliates } from "../../../api/affiliates/affiliates.ts";
import { listConversions } from "../../../api/conversions/conversions.ts";
import { listOffers, listOffersOfPartner } from "../../../api/offers/offers.ts";
import {
  listPostbacksOfPartner,
  listPostbacksOfWorkspace,
} from "../../../api/postbacks/postbacks.ts";
import type { Queryable, Statement } from "../../../schemas/postgres/connect.ts";
import { ApiWorld } from "./api-world.ts";

const ROWS = 20_000;
const PAGE = { after: { at: "2030-01-01T00:00:00.000Z", id: "1000000" }, rowsMax: 51 };
const CONVERSION_PAGE = {
  after: { at: "2030-01-01T00:00:00.000Z", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" },
  rowsMax: 101,
};

let world: ApiWorld;

beforeAll(async () => {
  world = await ApiWorld.open();
  const { workspaceId, advertiserId, affiliateId } = world.tenant;
  const values = [workspaceId, ROWS];
  const at = "now() - i * interval '1 second'";
  for (const text of [
    `insert into advertiser (workspace_id, name, currency, postback_token, created_at)
     select $1, 'A', 'USD', 't' || i, ${at} from generate_series(1, $2) i`,
    `insert into affiliate (workspace_id, code, name, currency, created_at)
     select $1, 'c' || i, 'F', 'USD', ${at} from generate_series(1, $2) i`,
    `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, created_at)
     select $1, a.id, 'c' || a.id, 'O', 'https://x.example', 'USD', a.created_at
     from advertiser a where workspace_id = $1 limit $2`,
    `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private,
       status, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts,
       holds_click, holds_txid)
     select gen_random_uuid(), $1, o.id, f.id, o.advertiser_id, 1, 'default', false, 'approved', 1, 1, 'USD', 'cpa', 1,
       'rpa', 1, 'api', o.created_at, false, false
     from (select id, advertiser_id, created_at, row_number() over () as n from offer) o
     join (select id, row_number() over () as n from affiliate) f using (n)
     where o.n <= $2`,
    `insert into postback (workspace_id, offer_id, affiliate_id, url, created_at)
     select $1, o.id, f.id, 'https://x.example', o.created_at
     from (select id, created_at, row_number() over () as n from offer) o
     join (select id, row_number() over () as n from affiliate) f using (n)
     where o.n <= $2`,
  ]) {
    await world.db.query({ text, values });
  }
  await world.db.query({
    text: "update conversion set affiliate_id = $1, advertiser_id = $2 where offer_id % 50 = 0",
    values: [affiliateId, advertiserId],
  });
  await world.db.query({
    text: "update postback set affiliate_id = $1 where offer_id % 50 = 0",
    values: [affiliateId],
  });
  await world.db.query({ text: "analyze" });
});
afterAll(async () => {
  await world.close();
});

const FILTERS = {
  ...{
    status: "active",
    q: undefined,
    visibility: undefined,
    advertiserId: undefined,
    category: undefined,
  },
  ...{
    tag: undefined,
    ids: undefined,
    featured: undefined,
    currency: undefined,
    canRun: undefined,
  },
  managerId: undefined,
};

const POSTBACK_FILTERS = { offerId: undefined, affiliateId: undefined, status: "active" };

function conversionFilters() {
  return {
    ...{ fromMs: Date.now() - 86_400_000, toMs: Date.now(), status: "approved", event: undefined },
    ...{ clickId: undefined, offerId: undefined, affiliateId: undefined, method: undefined },
    ...{ advTxid: undefined, smartLinkId: undefined },
  };
}

/** The plan of the one statement that `read` makes, as text. */
async function planOf(read: (db: Queryable) => Promise<unknown>): Promise<string> {
  const statements: Statement[] = [];
  await read({
    query: async (statement) => {
      statements.push(statement);
      return await world.db.query(statement);
    },
  });
  expect(statements).toHaveLength(1);
  const [{ text, values = [] } = { text: "" }] = statements;
  const { rows } = await world.db.query<{ "QUERY PLAN": string }>({
    text: `explain ${text}`,
    values,
  });
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

function principal(role: "admin" | "partner" | "advertiser"): Principal {
  const { workspaceId, affiliateId, advertiserId } = world.tenant;
  const workspace = {
    id: workspaceId,
    slug: "",
    name: "",
    brand_name: "",
    timezone: "UTC",
    currency: "USD",
  };
  const key = { keyId: 1, keyName: "", permissions: [], workspace };
  const account = { name: "", status: "active", currency: "USD" };
  if (role === "partner") {
    return { ...key, role, affiliate: { ...account, id: affiliateId, code: "" }, advertiser: null };
  }
  if (role === "advertiser")
    return { ...key, role, affiliate: null, advertiser: { ...account, id: advertiserId } };
  return { ...key, role, affiliate: null, advertiser: null };
}

test.each([
  [
    "offers",
    "offer_list",
    async (db: Queryable) => await listOffers(db, world.tenant.workspaceId, FILTERS, PAGE),
  ],
  [
    "offers of a partner",
    "offer_list",
    async (db: Queryable) => {
      const partner = principal("partner");
      return partner.role === "partner"
        ? await listOffersOfPartner(db, partner, FILTERS, PAGE)
        : [];
    },
  ],
  [
    "affiliates",
    "affiliate_list",
    async (db: Queryable) => await listAffiliates(db, world.tenant.workspaceId, FILTERS, PAGE),
  ],
  [
    "advertisers",
    "advertiser_list",
    async (db: Queryable) => await listAdvertisers(db, world.tenant.workspaceId, FILTERS, PAGE),
  ],
  [
    "conversions",
    "conversion_list",
    async (db: Queryable) =>
      await listConversions(db, principal("admin"), conversionFilters(), CONVERSION_PAGE),
  ],
  [
    "conversions of a partner",
    "conversion_affiliate",
    async (db: Queryable) =>
      await listConversions(db, principal("partner"), conversionFilters(), CONVERSION_PAGE),
  ],
  [
    "conversions of an advertiser",
    "conversion_advertiser",
    async (db: Queryable) =>
      await listConversions(db, principal("advertiser"), conversionFilters(), CONVERSION_PAGE),
  ],
  [
    "postbacks",
    "postback_list",
    async (db: Queryable) =>
      await listPostbacksOfWorkspace(db, world.tenant.workspaceId, POSTBACK_FILTERS, PAGE),
  ],
  [
    "postbacks of a partner",
    "postback_affiliate",
    async (db: Queryable) => await listPostbacksOfPartner(db, world.tenant, POSTBACK_FILTERS, PAGE),
  ],
] as const)(
  "a page of %s is read from the index %s, in its order: its cost does not grow with the table",
  async (_name, index, read) => {
    const plan = await planOf(read);
    expect(plan).toContain(`using ${index}`);
    // Reading from the position on is a condition of the index; nothing of the list is sorted.
    expect(plan).toMatch(new RegExp(`using ${index} on [^\\n]*\\n *Index Cond: [^\\n]*ROW\\(`));
    expect(plan.split(`using ${index}`)[0]).not.toContain("Sort");
  },
);

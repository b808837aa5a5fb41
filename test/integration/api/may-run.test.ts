import { expect, test } from "vitest";
import { z } from "zod";
import { isApproved, isPaused } from "../../../ingress/decide/click-conditions.ts";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, ApiWorld, details, list, record, refusal } from "./api-world.ts";

const TERMS = "No brand bidding";

const world = await forThisFile(ApiWorld.open());
await world.post("/tracking-domains", { host: "go.example", is_default: true });

/** Inserts an offer for every combination of visibility, status, terms and access of the partner. */
async function fillCases(): Promise<void> {
  const { workspaceId, advertiserId, affiliateId } = world.tenant;
  await world.pool.query({
    text: `with made as (
             insert into offer (workspace_id, advertiser_id, code, name, status, visibility, destination_url, currency, terms)
             select $1, $2, 'C' || row_number() over (), access || ' ' || accepted, offer_status, visibility,
               'https://shop.example/', 'USD', terms
             from unnest(array['public', 'approval', 'private']) visibility, unnest(array['active', 'paused']) offer_status,
               unnest(array[null, $4]) terms, unnest(array['none', 'pending', 'approved', 'rejected']) access,
               unnest(array['no', 'yes']) accepted
             where access <> 'none' or accepted = 'no'
             returning id, split_part(name, ' ', 1) as access, split_part(name, ' ', 2) as accepted)
           insert into offer_access (offer_id, affiliate_id, status, requested_at, terms_accepted_at)
           select id, $3, access, now(), case when accepted = 'yes' then now() end from made where access <> 'none'`,
    values: [workspaceId, advertiserId, affiliateId, TERMS],
  });
}

async function readCatalog(): Promise<Catalog> {
  const catalog = new Catalog();
  const log = openLog({ process: "test", level: "silent" });
  const feed = await CatalogFeed.start({ catalog, db: world.pool, log, metrics: new Metrics() });
  await feed.close();
  return catalog;
}

/** Ids of the offers that the partner may run according to ingress. */
function runnableByClicks(catalog: Catalog): number[] {
  const affiliate = catalog.affiliates.get(world.tenant.affiliateId);
  if (affiliate === undefined) throw new Error("the partner is not in the catalog");
  return [...catalog.offers.values()]
    .filter((offer) => !isPaused(catalog, offer) && isApproved(catalog, offer, affiliate))
    .map(({ id }) => id)
    .toSorted((a, b) => a - b);
}

async function runnableByList(): Promise<number[]> {
  const { partner } = world.tenant.keys;
  const offers = list(await world.get("/offers?limit=200&can_run=true", partner));
  return offers.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
}

test("clicks, offer lists and links agree on every case of what a partner may run (G48, G189)", async () => {
  await fillCases();
  const { partner, admin } = world.tenant.keys;
  for (const status of ["paused", "active"]) {
    await world.patch(`/advertisers/${world.tenant.advertiserId}`, { status });
    const catalog = await readCatalog();
    const runnable = runnableByClicks(catalog);
    // Without terms 5 public, 2 by approval and 2 private offers; with terms, only those that were accepted: 2, 1 and 1.
    expect(runnable.length).toBe(status === "active" ? 13 : 0);
    expect(await runnableByList()).toEqual(runnable);
    if (status === "paused") continue;
    for (const { id } of catalog.offers.values()) {
      const own = await world.get(`/tracking-link?offer=${id}`, partner);
      expect(own.status === 200, `offer ${id}`).toBe(runnable.includes(id));
      const path = `/tracking-link?offer=${id}&affiliate=${world.tenant.affiliateCode}`;
      const { warnings } = dataOf(await world.get(path, admin));
      const isWarned = JSON.stringify(warnings).includes("clicks go to the fallback");
      expect(isWarned, `offer ${id}`).toBe(!runnable.includes(id));
    }
  }
});

function dataOf({ body }: Answer): Record<string, unknown> {
  return z.object({ data: z.record(z.string(), z.unknown()) }).parse(body).data;
}

async function offerWithTerms(fields: Record<string, unknown> = {}) {
  const offer = await world.offer(fields);
  await world.patch(`/offers/${offer.id}/settings`, { terms: TERMS });
  return offer;
}

test("a partner reads and accepts the terms of an offer, and may run it afterwards (G189)", async () => {
  const { partner, admin } = world.tenant.keys;
  const { id } = await offerWithTerms();
  const look = async () => record(await world.get(`/offers/${id}`, partner));
  expect(await look()).toMatchObject({ access_status: null, can_run: false });
  expect(await look()).not.toHaveProperty("tracking_link");
  const before = dataOf(await world.get(`/offers/${id}/terms`, partner));
  const hash = String(before["hash"]);
  expect(before).toEqual({ offer_id: id, terms: TERMS, hash, accepted: false, accepted_at: null });
  const accept = async (body: unknown, key = partner) =>
    await world.post(`/offers/${id}/accept-terms`, body, key);
  const accepted = dataOf(await accept({ hash }));
  expect(accepted).toMatchObject({ accepted: true });
  expect(typeof accepted["accepted_at"]).toBe("string");
  expect(dataOf(await accept({ hash }))).toEqual(accepted);
  expect(dataOf(await world.get(`/offers/${id}/terms`, partner))).toEqual(accepted);
  // Accepting terms does not request access, so there is nothing for staff to decide.
  expect(await look()).toMatchObject({ access_status: null, can_run: true });
  expect(list(await world.get(`/offers/${id}/affiliates`))).toEqual([]);
  expect(runnableByClicks(await readCatalog())).toContain(id);
  expect(dataOf(await world.get(`/offers/${id}/terms`, admin))).toEqual({
    offer_id: id,
    terms: TERMS,
    hash,
  });
  expect(refusal(await accept({ hash }, admin))).toBe("403 forbidden");
});

test("new terms of an offer need new acceptance unless the change keeps it (G189)", async () => {
  const { partner } = world.tenant.keys;
  const { id } = await offerWithTerms({ visibility: "approval" });
  const code = world.tenant.affiliateCode;
  await world.call("PUT", `/offers/${id}/affiliates/${code}`, { body: { status: "approved" } });
  const terms = async () => dataOf(await world.get(`/offers/${id}/terms`, partner));
  const canRun = async () => record(await world.get(`/offers/${id}`, partner))["can_run"];
  const accept = async (hash: unknown) =>
    await world.post(`/offers/${id}/accept-terms`, { hash }, partner);
  const { hash } = await terms();
  expect((await accept(hash)).status).toBe(200);
  expect(await canRun()).toBe(true);
  await world.patch(`/offers/${id}/settings`, { terms: `${TERMS}.`, keep_acceptance: true });
  expect(await canRun()).toBe(true);
  await world.patch(`/offers/${id}/settings`, { hold_days: 1 });
  expect(await terms()).toMatchObject({ accepted: true });
  await world.patch(`/offers/${id}/settings`, { terms: "No coupons" });
  expect(await canRun()).toBe(false);
  expect(runnableByClicks(await readCatalog())).not.toContain(id);
  // The hash of the earlier terms does not accept the new ones.
  const late = await accept(hash);
  expect(refusal(late)).toBe("409 conflict");
  expect(details(late).field).toBe("hash");
  expect((await accept((await terms())["hash"])).status).toBe(200);
  expect(await canRun()).toBe(true);
  await world.patch(`/offers/${id}/settings`, { terms: "" });
  expect(await terms()).toEqual({
    offer_id: id,
    terms: null,
    hash: null,
    accepted: false,
    accepted_at: null,
  });
  expect(await canRun()).toBe(true);
  expect(refusal(await accept("0".repeat(64)))).toBe("409 conflict");
});

test("a request for access after accepting the terms is a pending request (G50, G189)", async () => {
  const { partner } = world.tenant.keys;
  const { id } = await offerWithTerms();
  const { hash } = dataOf(await world.get(`/offers/${id}/terms`, partner));
  await world.post(`/offers/${id}/accept-terms`, { hash }, partner);
  const path = `/offers/${id}/affiliates/${world.tenant.affiliateCode}`;
  const access = dataOf(await world.call("PUT", path, { body: { status: "pending" } }));
  expect(access).toMatchObject({ status: "pending" });
  expect(typeof access["requested_at"]).toBe("string");
  expect((await world.get(`/offers/${id}/affiliates`)).body["data"]).toHaveLength(1);
  expect(record(await world.get(`/offers/${id}`, partner))).toMatchObject({
    access_status: "pending",
    can_run: true,
  });
  // A private offer is 404 for a partner without access.
  const hidden = await offerWithTerms({ visibility: "private" });
  expect(refusal(await world.get(`/offers/${hidden.id}/terms`, partner))).toBe("404 not_found");
});

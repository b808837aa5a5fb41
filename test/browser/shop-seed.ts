import { z } from "zod";
import { openPool, type Queryable } from "../../schemas/postgres/connect.ts";
import { inTransaction } from "../../schemas/postgres/transaction.ts";
import { serversOf } from "../system/servers-of.ts";
import type { HttpAnswer, ServiceClient } from "../system/service.ts";
import type { System } from "../system/start-system.ts";
import { until } from "../system/until.ts";

/** Tracking domain of the demo workspace, which has an organic partner. */
export const TRACK_HOST = "track.test";
export const TRACK = `http://${TRACK_HOST}`;
/** Tracking domain of a workspace without an organic partner. */
export const PLAIN_HOST = "plain.test";
export const PLAIN = `http://${PLAIN_HOST}`;
export const PLAIN_OFFER = "PLAINSHOP";
const SHOP_HOST = "shop.test";
export const SHOP = `http://${SHOP_HOST}`;
export const OFFER = "DEMOSHOP";
export const PARTNER = "DEMOANNA";
export const OTHER_PARTNER = "DEMOBOB";

/**
 * Points the demo's shop to pages that a test serves, and adds tracking domains that a browser treats as third parties. Returns
 * when the service uses them.
 */
export async function seedShop(system: Pick<System, "dataDir" | "client">): Promise<void> {
  const { postgres } = await serversOf(system);
  const workspaceId = system.client.demo.workspace_id;
  const pool = openPool({ url: postgres, applicationName: "test", connectionsMax: 1 });
  try {
    await inTransaction(pool, async (tx) => {
      await addDomain(tx, workspaceId, TRACK_HOST);
      await tx.query({
        text: "update offer set destination_url = $1, allowed_domains = $2 where code = $3",
        values: [`${SHOP}/landing?click_id={click_id}`, [SHOP_HOST], OFFER],
      });
      const organicId = await insert(
        tx,
        "insert into affiliate (workspace_id, code, name, currency) values ($1, 'ORGANIC', 'Organic', 'USD') returning id",
        [workspaceId],
      );
      await tx.query({
        text: "update workspace set organic_affiliate_id = $1 where id = $2",
        values: [organicId, workspaceId],
      });
      await addPlainWorkspace(tx, PLAIN_HOST);
    });
  } finally {
    await pool.end();
  }
  await untilApplied(system.client);
}

/** Waits until ingress and the conversion processors use the set-up; each applies the one transaction as a whole. */
async function untilApplied(client: ServiceClient): Promise<void> {
  const headersOf = async (path: string, host: string): Promise<HttpAnswer["headers"]> =>
    (await client.attempt(`${client.demo.tracking_url}${path}`, { host })).headers;
  await until("ingress and the processors use the shop", async () => {
    const click = await headersOf(`/r/${OFFER}/${PARTNER}`, TRACK_HOST);
    const pixel = await headersOf(`/px?test=1&offer=${PLAIN_OFFER}`, PLAIN_HOST);
    const isInProcessors = pixel["x-tracker-conversion"]?.includes("click_id required") === true;
    return String(click["location"]).startsWith(SHOP) && isInProcessors;
  });
}

async function addPlainWorkspace(db: Queryable, host: string): Promise<void> {
  const workspaceId = await insert(
    db,
    "insert into workspace (slug, name, postback_token) values ('plain', 'Plain', 'plain-token') returning id",
    [],
  );
  const advertiserId = await insert(
    db,
    "insert into advertiser (workspace_id, name, currency, postback_token) values ($1, 'A', 'USD', 'plain-adv') returning id",
    [workspaceId],
  );
  const offerId = await insert(
    db,
    `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency)
     values ($1, $2, $3, 'Plain', 'https://plain.example/', 'USD') returning id`,
    [workspaceId, advertiserId, PLAIN_OFFER],
  );
  await insert(
    db,
    "insert into offer_event (offer_id, code, name, is_default) values ($1, 'default', 'Sale', true) returning id",
    [offerId],
  );
  await addDomain(db, workspaceId, host);
}

async function addDomain(db: Queryable, workspaceId: number, host: string): Promise<void> {
  await db.query({
    text: "insert into tracking_domain (workspace_id, host, scheme) values ($1, $2, 'http')",
    values: [workspaceId, host],
  });
}

async function insert(db: Queryable, text: string, values: unknown[]): Promise<number> {
  const { rows } = await db.query<{ id: number }>({ text, values });
  return z.int().parse(rows[0]?.id);
}

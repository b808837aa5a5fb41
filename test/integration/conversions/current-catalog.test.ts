import type pg from "pg";
import { expect, test } from "vitest";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../../schemas/catalog-feed/follow.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { Metrics } from "../../../schemas/host/metrics.ts";
import type { Statement } from "../../../schemas/postgres/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { createCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

/** Enough rounds that most fall between two periodic reads of the catalog. */
const ROUNDS = 20;

const world = await forThisFile(TrackingWorld.open());
world.startWriters();
await world.nats.connection.flush();

/** Commits an advertiser with an offer, without notifying any process. */
async function commitOffer(name: string): Promise<number> {
  const { rows } = await world.pool.query<{ id: number }>({
    text: `with advertiser as (
             insert into advertiser (workspace_id, name, currency, postback_token)
             values ($1, $2, 'USD', $2) returning id),
           offer as (
             insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency,
               payout_type, payout, revenue_type, revenue)
             select $1, id, $2, $2, 'https://shop.example/', 'USD', 'cpa', 10, 'rpa', 15 from advertiser
             returning id)
           insert into offer_event (offer_id, name, code, is_default, payout_type, payout, revenue_type, revenue)
           select id, 'Sale', 'default', true, 'cpa', 10, 'rpa', 15 from offer returning offer_id as id`,
    values: [world.workspaceId, name],
  });
  return rows[0]?.id ?? 0;
}

test("a token and an offer are known as soon as their change is committed (P15, PB-006)", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const token = `fresh-token-${round}`;
    const click = world.addYoungClick({ offer_id: await commitOffer(token) });
    const reply = await world.report({ token, click_id: click.click_id });
    expect(reply).toMatchObject({ httpStatus: 200, result: "approved" });
  }
});

test("an event is known as soon as its change is committed, also under a key (P15, G203)", async () => {
  const offerId = await world.addOffer();
  for (let round = 0; round < ROUNDS; round += 1) {
    const event = `fresh-${round}`;
    const click = world.addYoungClick({ offer_id: offerId });
    await world.pool.query({
      text: "insert into offer_event (offer_id, name, code) values ($1, $2, $2)",
      values: [offerId, event],
    });
    const reply = await world.report({ click_id: click.click_id, event, idempotency_key: event });
    expect(reply).toMatchObject({ httpStatus: 200, result: "approved" });
  }
});

test("a rotated token is refused at once, and its successor accepted (PB-009, AUTH-022)", async () => {
  const token = "rotated";
  const offerId = await commitOffer(token);
  const refused = await world.report({ token: "rotated-2", click_id: "0".repeat(32) });
  expect(refused).toMatchObject({ httpStatus: 401, result: "invalid_token" });
  await world.pool.query({
    text: "update advertiser set postback_token = 'rotated-2' where postback_token = $1",
    values: [token],
  });
  const click = world.addYoungClick({ offer_id: offerId });
  const reply = await world.report({ token: "rotated-2", click_id: click.click_id });
  expect(reply.result).toBe("approved");
  const old = await world.report({ token, click_id: click.click_id });
  expect(old).toMatchObject({ httpStatus: 401, result: "invalid_token" });
});

test("a conversion by hand knows an offer as soon as its change is committed (CNV-020)", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const offerId = await commitOffer(`by-hand-${round}`);
    const reply = await world.command(createCommand(world, { offerId }));
    expect(reply.kind).toBe("created");
  }
});

test("concurrent refreshes of the catalog share one read of Postgres after the current one", async () => {
  let readings = 0;
  const db = {
    query: <Row extends pg.QueryResultRow>(statement: Statement) => {
      // Each read of a feed that is current begins with it.
      if (statement.name === "read-newest-catalog-mark") readings += 1;
      return world.pool.query<Row>(statement);
    },
  };
  const catalog = new Catalog();
  const log = openLog({ process: "test", level: "silent" });
  const feed = await CatalogFeed.start({ catalog, db, log, metrics: new Metrics() });
  try {
    readings = 0;
    const current = feed.refresh();
    await commitOffer("of-a-flood");
    const requested = Array.from({ length: 900 }, () => feed.refresh());
    expect(new Set(await Promise.all([current, ...requested]))).toEqual(new Set([true]));
    expect(catalog.offersByCode("of-a-flood")).toHaveLength(1);
    // The periodic read may have happened once.
    expect(readings).toBeGreaterThanOrEqual(1);
    expect(readings).toBeLessThanOrEqual(3);
  } finally {
    await feed.close();
  }
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { TrackingWorld } from "./tracking-world.ts";

const SENDERS = 64;

let world: TrackingWorld;
beforeAll(async () => {
  world = await TrackingWorld.open({ lanes: 3 });
});
afterAll(async () => {
  await world.close();
});

test("exactly one of 64 concurrent reports of a click and event is approved (P16, LIFE-006)", async () => {
  const offerId = await world.addOffer();
  for (let round = 0; round < 5; round += 1) {
    const click = await world.addClick({ offer_id: offerId });
    const replies = await together(SENDERS, () => world.report({ click_id: click.click_id }));
    expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(1);
    expect(replies.filter((reply) => reply.result === "duplicate")).toHaveLength(SENDERS - 1);
    const counted = await world.rows(
      "select id from conversion where click_id = $1 and status = 'approved'",
      [click.click_id],
    );
    expect(counted).toHaveLength(1);
  }
});

test("exactly one of 64 concurrent reports of an order from 64 clicks is approved (P16, LIFE-007)", async () => {
  const offerId = await world.addOffer();
  const clicks = Array.from({ length: SENDERS }, () => world.aClick({ offer_id: offerId }));
  await world.storeClicks(clicks);
  const replies = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id, txid: "ONE", amount: "5" })),
  );
  expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(1);
  const stored = await world.rows<{ status: string }>(
    "select status from conversion where offer_id = $1",
    [offerId],
  );
  expect(stored.filter(({ status }) => status === "approved")).toHaveLength(1);
});

test("concurrent reports with a status find the first one and change nothing (P16, G106, G109)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  const replies = await together(SENDERS, () =>
    world.report({ click_id: click.click_id, status: "approved" }),
  );
  expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(1);
  expect(replies.filter((reply) => reply.result === "updated")).toHaveLength(SENDERS - 1);
  expect(
    await world.rows("select id from conversion where click_id = $1", [click.click_id]),
  ).toHaveLength(1);
});

test("a cap of 10 approves exactly 10 of 64 concurrent reports, without a deadlock (P17, LIFE-020)", async () => {
  const offerId = await world.addOffer({
    caps: {
      conversions: { daily: 10, total: 30 },
      payout: { monthly: "1000" },
      revenue: { hourly: "100000" },
    },
  });
  const clicks = Array.from({ length: SENDERS }, () => world.aClick({ offer_id: offerId }));
  await world.storeClicks(clicks);
  const replies = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id })),
  );
  expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(10);
  expect(replies.filter((reply) => reply.body["reason"] === "cap_exceeded")).toHaveLength(
    SENDERS - 10,
  );
  const used = await world.rows(
    "select cap, used from cap_counter where cap like $1 order by cap",
    [`offer/${offerId}/%`],
  );
  expect(used).toEqual([
    { cap: `offer/${offerId}/conversions/daily`, used: "10.0000" },
    { cap: `offer/${offerId}/conversions/total`, used: "10.0000" },
    { cap: `offer/${offerId}/payout/monthly/USD`, used: "100.0000" },
    { cap: `offer/${offerId}/revenue/hourly/USD`, used: "150.0000" },
  ]);
  const [database] = await world.rows<{ deadlocks: number }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  expect(database?.deadlocks).toBe(0);
});

test("offers of one advertiser share its budget and never exceed it (P17, LIFE-021)", async () => {
  await world.change("update advertiser set budget_caps = $2 where id = $1", [
    world.advertiserId,
    JSON.stringify({ revenue: { total: "100" } }),
  ]);
  const offers = [
    await world.addOffer(),
    await world.addOffer({ caps: { conversions: { total: 5 } } }),
  ];
  const clicks = Array.from({ length: SENDERS }, (_, i) =>
    world.aClick({ offer_id: offers[i % 2] ?? 0 }),
  );
  await world.storeClicks(clicks);
  const replies = await Promise.all(
    clicks.map((click) => world.report({ click_id: click.click_id })),
  );
  // 6 conversions of 15.0000 fit into 100.
  expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(6);
  await world.change("update advertiser set budget_caps = '{}' where id = $1", [
    world.advertiserId,
  ]);
});

test("an alert-only cap keeps the conversion and flags it (LIFE-022)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { daily: 1 }, alert_only: true } });
  const flags = [];
  for (let i = 0; i < 2; i += 1) {
    const click = await world.addClick({ offer_id: offerId });
    const reply = await world.report({ click_id: click.click_id });
    expect(reply.body).toMatchObject({ status: "approved" });
    flags.push((await world.conversion(reply.body["conversion_id"]))["cap_alert"]);
  }
  expect(flags).toEqual([false, true]);
});

test("every recorded conversion has its history and its outbox row (P14, G195)", async () => {
  const [loose] = await world.rows<{ count: number }>(
    `select count(*) as count from conversion c
     where not exists (select from conversion_history h where h.conversion_id = c.id)
        or not exists (select from conversion_fact_outbox o where o.conversion_id = c.id)`,
  );
  expect(loose?.count).toBe(0);
});

async function together<T>(count: number, send: () => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, send));
}

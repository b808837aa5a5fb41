import { expect, test } from "vitest";
import { lockOffer, offerTable } from "../../../api/catalog/offers/offers.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const SENDERS = 64;

const world = await forThisFile(TrackingWorld.open({ lanes: 3 }));

test("of concurrent equal reports one makes the conversion, the others change nothing (P16, G106, G109)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  const { click_id } = click;
  const replies = await Promise.all(
    Array.from({ length: SENDERS }, () => world.report({ click_id, status: "approved" })),
  );
  expect(replies.filter((reply) => reply.result === "approved")).toHaveLength(1);
  expect(replies.filter((reply) => reply.result === "updated")).toHaveLength(SENDERS - 1);
  expect(
    await world.rows("select id from conversion where click_id = $1", [click.click_id]),
  ).toHaveLength(1);
});

test("of equal reports of other money one changes the conversion, the others are duplicates (G106)", async () => {
  const terms = { payout_type: "cps", payout: 10, revenue_type: "rps", revenue: 20 };
  for (const isConcurrent of [false, true]) {
    const { click_id } = await world.addClick({ offer_id: await world.addOffer(terms) });
    const txid = `other-money-${String(isConcurrent)}`;
    await world.report({ click_id, txid, amount: "10" });
    const send = () => world.report({ click_id, txid, amount: "20" });
    const replies = [];
    if (isConcurrent) replies.push(...(await Promise.all(Array.from({ length: 8 }, send))));
    else for (let n = 0; n < 8; n += 1) replies.push(await send());
    const results = replies.map(({ result }) => result).sort();
    expect(results, String(isConcurrent)).toEqual([
      ...Array.from({ length: 7 }, () => "duplicate"),
      "updated",
    ]);
    expect(
      await world.rows("select id from conversion where click_id = $1", [click_id]),
    ).toHaveLength(8);
  }
});

test("reports are recorded while a change holds the lock on their offer (G44)", async () => {
  const offerId = await world.addOffer();
  const { click_id } = await world.addClick({ offer_id: offerId });
  const { click_id: other } = await world.addClick({ offer_id: offerId });
  const replies = await inTransaction(world.pool, async (tx) => {
    await lockOffer(tx, offerId);
    return [await world.report({ click_id })];
  });
  await inTransaction(world.pool, async (tx) => {
    await offerTable.lock(tx, world.workspaceId, offerId);
    replies.push(await world.report({ click_id: other }));
  });
  expect(replies.map(({ result }) => result)).toEqual(["approved", "approved"]);
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
  expect(await world.rows("select id from conversion")).not.toEqual([]);
  const [withoutCopies] = await world.rows<{ count: number }>(
    `select count(*) as count from conversion c
     where not exists (select from conversion_history h where h.conversion_id = c.id)
        or not exists (select from conversion_fact_outbox o where o.conversion_id = c.id)`,
  );
  expect(withoutCopies?.count).toBe(0);
});

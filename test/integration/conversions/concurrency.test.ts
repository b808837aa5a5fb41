import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const SENDERS = 64;

const world = await forThisFile(TrackingWorld.open({ lanes: 3 }));

test("concurrent reports with a status find the first one and change nothing (P16, G106, G109)", async () => {
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

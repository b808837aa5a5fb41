import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { PostbackReply } from "../../../schemas/events/postback-request.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ADVERTISER_TOKEN, type OfferSettings, TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

async function recorded(
  params: Record<string, string> = {},
  settings: OfferSettings = {},
): Promise<{ id: string; clickId: string; offerId: number; reply: PostbackReply }> {
  const offerId = await world.addOffer(settings);
  const click = await world.addClick({ offer_id: offerId });
  const reply = await world.report({ click_id: click.click_id, ...params });
  expect(reply.body.ok, JSON.stringify(reply)).toBe(true);
  return { id: String(reply.body["conversion_id"]), clickId: click.click_id, offerId, reply };
}

test("a rejection by conversion id reverses once and keeps the history (LIFE-038, PB-022)", async () => {
  const { id } = await recorded();
  const reply = await world.report({ conversion_id: id.toUpperCase(), status: "rejected" });
  expect(reply).toMatchObject({
    result: "updated",
    body: {
      ok: true,
      updated: true,
      conversion_id: id,
      status: "rejected",
      reason: "postback_reversal",
    },
  });
  const again = await world.report({ conversion_id: id, status: "rejected" });
  expect(again.body).toMatchObject({ ok: true, updated: true, status: "rejected" });
  const history = await world.rows(
    "select from_status, to_status, reason, actor from conversion_history where conversion_id = $1 order by id",
    [id],
  );
  expect(history).toEqual([
    { from_status: null, to_status: "approved", reason: "", actor: "postback" },
    {
      from_status: "approved",
      to_status: "rejected",
      reason: "postback_reversal",
      actor: "postback",
    },
  ]);
  expect(await world.conversion(id)).toMatchObject({ version: 2, status: "rejected" });
});

test("order id, or click and event, with a status find the same conversion (LIFE-039, LIFE-040, PB-027)", async () => {
  const { id, clickId, offerId } = await recorded({ txid: "T-9" });
  const byOrder = await world.report({
    offer_id: String(offerId),
    txid: "T-9",
    status: "rejected",
  });
  const reversed = { status: "rejected", reason: "postback_reversal" };
  expect(byOrder.body).toMatchObject({ updated: true, conversion_id: id, ...reversed });
  const byClick = await world.report({ click_id: clickId, status: "approved" });
  expect(byClick.body).toMatchObject({
    updated: true,
    conversion_id: id,
    status: "approved",
    reason: "postback_update",
  });
  const again = await world.report({ click_id: clickId, event: "default", status: "rejected" });
  expect(again.body).toMatchObject({ updated: true, conversion_id: id, ...reversed });
  expect(await world.rows("select id from conversion where offer_id = $1", [offerId])).toHaveLength(
    1,
  );
});

test("another order id on the same click and event is a duplicate, also with a status (G106)", async () => {
  const { clickId } = await recorded({ txid: "A" });
  const reply = await world.report({ click_id: clickId, txid: "B", status: "approved" });
  expect(reply.body).toMatchObject({ status: "rejected", reason: "duplicate", duplicate: true });
});

test("a later postback approves a pending conversion and sets it pending again (LIFE-041, LIFE-042)", async () => {
  const { id } = await recorded({ status: "pending" });
  const approved = await world.report({ conversion_id: id, status: "approved" });
  expect(approved.body).toMatchObject({ status: "approved", reason: "postback_update" });
  const pending = await world.report({ conversion_id: id, status: "pending" });
  expect(pending.body).toMatchObject({ status: "pending", reason: "postback_update" });
});

test("a changed amount computes money again by the terms of the conversion (LIFE-043, G108)", async () => {
  const { id, offerId } = await recorded(
    { amount: "100", txid: "T" },
    { payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "20" },
  );
  await world.change("update offer_event set payout = 50 where offer_id = $1", [offerId]);
  const reply = await world.report({ offer_id: String(offerId), txid: "T", amount: "60" });
  expect(reply.body).toMatchObject({
    updated: true,
    status: "approved",
    reason: "postback_reversal",
  });
  expect(await world.conversion(id)).toMatchObject({
    sale_amount: "60.0000",
    payout: "6.0000",
    revenue: "12.0000",
  });
  const same = await world.report({
    offer_id: String(offerId),
    aff_id: "PARTNR",
    txid: "T",
    amount: "60",
  });
  expect(same.body).toMatchObject({ duplicate: true, reason: "duplicate" });
});

test("a duplicate stays rejected after any postback (LIFE-044, T06)", async () => {
  const { clickId } = await recorded();
  const duplicate = await world.report({ click_id: clickId });
  const id = String(duplicate.body["conversion_id"]);
  const reply = await world.report({ conversion_id: id, status: "approved" });
  expect(reply.body).toMatchObject({
    ok: true,
    updated: true,
    status: "rejected",
    duplicate: true,
  });
  expect(await world.conversion(id)).toMatchObject({ status: "rejected", version: 1 });
});

test("an event that allows several records them as `multiple`, each order once (LIFE-009, LIFE-010, G107)", async () => {
  const offerId = await world.addOffer();
  await world.addEvent(offerId, { code: "sale", allow_multiple: true, payout: "2" });
  const click = await world.addClick({ offer_id: offerId });
  const send = (params: Record<string, string>): Promise<PostbackReply> =>
    world.report({ click_id: click.click_id, event: "sale", ...params });
  const first = await send({ txid: "1" });
  const second = await send({ txid: "2" });
  expect(first.body).not.toHaveProperty("reason");
  expect(second.body).toMatchObject({ status: "approved", reason: "multiple" });
  expect((await send({ txid: "2" })).body).toMatchObject({ reason: "duplicate" });
  expect((await send({ status: "rejected" })).body).toMatchObject({
    updated: true,
    conversion_id: second.body["conversion_id"],
  });
});

test("an advertiser's token changes conversions only if allowed (PB-041, PB-042, PB-065, PB-008)", async () => {
  const { id } = await recorded();
  const advertiser = { conversion_id: id, status: "rejected", token: ADVERTISER_TOKEN };
  expect((await world.report({ conversion_id: randomUUID() })).body).toEqual({
    ok: false,
    error: "unknown conversion_id",
  });
  await world.change("update workspace set advertiser_updates = false");
  expect((await world.report(advertiser)).body).toEqual({
    ok: false,
    error: "advertiser postbacks may not change existing conversions in this workspace",
  });
  expect((await world.report({ conversion_id: id, status: "pending" })).body).toMatchObject({
    status: "pending",
  });
  await world.change("update workspace set advertiser_updates = true");
  expect((await world.report(advertiser)).body).toMatchObject({ status: "rejected" });
});

test("a new report from another address is rejected, a change refused (LIFE-019, PB-051, AUTH-024)", async () => {
  const { id } = await recorded();
  await world.change(
    "update advertiser set postback_ip_allowlist = '{198.51.100.0/24,2001:db8::/32}'",
  );
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  expect(await world.report({ conversion_id: id, status: "rejected" })).toMatchObject({
    httpStatus: 403,
    result: "ip_not_allowed",
    body: { ok: false, error: "postback IP not allowed for this offer" },
  });
  expect(
    (await world.report({ conversion_id: id, status: "rejected" }, { ip: "198.51.100.9" })).body.ok,
  ).toBe(true);
  expect((await world.report({ click_id: click.click_id })).body).toMatchObject({
    ok: true,
    status: "rejected",
    reason: "ip_not_allowed",
  });
  await world.change("update advertiser set postback_ip_allowlist = '{}'");
});

test("each concurrent change is applied to the version from which it was decided (P19)", async () => {
  const { id } = await recorded();
  const words = ["approved", "pending", "rejected"] as const;
  await Promise.all(
    Array.from({ length: 48 }, (_, i) =>
      world.report({ conversion_id: id, status: words[i % 3] ?? "approved", amount: String(i) }),
    ),
  );
  const { version, status, sale_amount } = await world.conversion(id);
  const history = await world.rows<{
    from_status: string | null;
    to_status: string;
    to_sale_amount: string;
  }>(
    "select from_status, to_status, to_sale_amount from conversion_history where conversion_id = $1 order by id",
    [id],
  );
  expect(history).toHaveLength(Number(version));
  for (const [i, step] of history.entries())
    expect(step.from_status).toBe(history[i - 1]?.to_status ?? null);
  expect(history.at(-1)).toMatchObject({ to_status: status, to_sale_amount: sale_amount });
});

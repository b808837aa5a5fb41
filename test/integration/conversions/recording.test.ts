import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ADVERTISER_TOKEN, TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

test("a postback with a click id becomes an approved conversion (LIFE-001, PB-002, CNV-013)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({
    offer_id: offerId,
    sub1: "s-1",
    country: "DE",
    gclid: "g-1",
    domain: "trk.example",
  });
  const reply = await world.report({ click_id: click.click_id, txid: "T-1", adv1: "x" });
  expect(reply).toMatchObject({
    httpStatus: 200,
    result: "approved",
    body: { ok: true, status: "approved" },
  });
  expect(reply.body).not.toHaveProperty("reason");
  const row = await world.conversion(reply.body["conversion_id"]);
  expect(row).toMatchObject({
    click_id: click.click_id,
    offer_id: offerId,
    affiliate_id: world.affiliateId,
    advertiser_id: world.advertiserId,
    event_code: "default",
    status: "approved",
    status_reason: "",
    payout: "10.0000",
    revenue: "15.0000",
    currency: "USD",
    adv_txid: "T-1",
    method: "s2s",
    params: { adv1: "x" },
    smart_link_id: null,
    click: {
      sub1: "s-1",
      country: "DE",
      gclid: "g-1",
      domain: "trk.example",
      link_type: "affiliate",
    },
  });
});

test("percentages of the sale are computed to the ten-thousandth (PB-011, CNV-017)", async () => {
  const offerId = await world.addOffer({
    payout_type: "cps",
    payout: "12.5",
    revenue_type: "rps",
    revenue: "33.3333",
  });
  const click = await world.addClick({ offer_id: offerId });
  const reply = await world.report({ click_id: click.click_id, amount: "19.99" });
  expect(await world.conversion(reply.body["conversion_id"])).toMatchObject({
    sale_amount: "19.9900",
    payout: "2.4988",
    revenue: "6.6633",
  });
});

test("a repeat of click and event is stored as a rejected duplicate (LIFE-006, PB-026)", async () => {
  const offerId = await world.addOffer();
  const click = await world.addClick({ offer_id: offerId });
  const first = await world.report({ click_id: click.click_id });
  const second = await world.report({ click_id: click.click_id });
  expect(first.body).toMatchObject({ ok: true, status: "approved" });
  expect(second).toMatchObject({
    result: "duplicate",
    body: { ok: true, status: "rejected", reason: "duplicate", duplicate: true },
  });
  expect(second.body["conversion_id"]).not.toBe(first.body["conversion_id"]);
  expect(await world.conversion(second.body["conversion_id"])).toMatchObject({
    is_duplicate: true,
    status: "rejected",
  });
});

test("the same order id from another click is a duplicate, on another offer it is not (LIFE-007)", async () => {
  const [one, two] = [await world.addOffer(), await world.addOffer()];
  const clicks = [
    await world.addClick({ offer_id: one }),
    await world.addClick({ offer_id: one }),
    await world.addClick({ offer_id: two }),
  ];
  const replies = [];
  for (const click of clicks)
    replies.push(await world.report({ click_id: click.click_id, txid: "ORDER-7" }));
  expect(replies.map((reply) => reply.result)).toEqual(["approved", "duplicate", "approved"]);
});

test("a click older than the window is rejected, a younger one approved (LIFE-016, LIFE-017)", async () => {
  const offerId = await world.addOffer({ attribution_days: 1 });
  const old = await world.addClick({ offer_id: offerId, ageMs: 86_400_000 + 60_000 });
  const inside = await world.addClick({ offer_id: offerId, ageMs: 86_400_000 - 60_000 });
  expect((await world.report({ click_id: old.click_id })).body).toMatchObject({
    status: "rejected",
    reason: "outside_window",
  });
  expect((await world.report({ click_id: inside.click_id })).body).toMatchObject({
    status: "approved",
  });
});

test("a partner's own payout wins over the event's (CNV-018)", async () => {
  const offerId = await world.addOffer();
  await world.insert("payout_override", {
    workspace_id: world.workspaceId,
    offer_id: offerId,
    affiliate_id: world.affiliateId,
    payout_type: "cpa",
    payout: "11.5",
  });
  const click = await world.addClick({ offer_id: offerId });
  const reply = await world.report({ click_id: click.click_id });
  expect(await world.conversion(reply.body["conversion_id"])).toMatchObject({
    payout: "11.5000",
    revenue: "15.0000",
  });
});

test("a partner's percentage does not change an event with a flat payout (#5, G199)", async () => {
  const offerId = await world.addOffer({ payout_type: "cps", payout: "5" });
  const flat = { payout_type: "cpa", payout: "4", revenue_type: "rpa", revenue: "6" };
  await world.addEvent(offerId, { code: "lead", ...flat });
  await world.addEvent(offerId, { code: "sale", ...flat, payout_type: "cps", payout: "5" });
  const own = {
    workspace_id: world.workspaceId,
    offer_id: offerId,
    affiliate_id: world.affiliateId,
  };
  const paid = async (event: string): Promise<unknown> => {
    const click = await world.addClick({ offer_id: offerId });
    const reply = await world.report({ click_id: click.click_id, event, amount: "100" });
    return (await world.conversion(reply.body["conversion_id"]))["payout"];
  };
  const id = await world.insert("payout_override", { ...own, payout_type: "cps", payout: "20" });
  expect([await paid("default"), await paid("sale"), await paid("lead")]).toEqual([
    "20.0000",
    "5.0000",
    "4.0000",
  ]);
  await world.change("update payout_override set event_code = '*' where id = $1", [id]);
  expect([await paid("default"), await paid("sale"), await paid("lead")]).toEqual([
    "20.0000",
    "20.0000",
    "4.0000",
  ]);
});

test("a given revenue counts with either token, a payout with the workspace's (PB-012, PB-013, AUTH-019)", async () => {
  const offerId = await world.addOffer();
  const [one, two] = [
    await world.addClick({ offer_id: offerId }),
    await world.addClick({ offer_id: offerId }),
  ];
  const own = await world.report({ click_id: one.click_id, payout: "3.25", revenue: "4" });
  const foreign = await world.report({
    click_id: two.click_id,
    payout: "3.25",
    revenue: "4",
    token: ADVERTISER_TOKEN,
  });
  expect(await world.conversion(own.body["conversion_id"])).toMatchObject({
    payout: "3.2500",
    revenue: "4.0000",
  });
  expect(await world.conversion(foreign.body["conversion_id"])).toMatchObject({
    payout: "10.0000",
    revenue: "4.0000",
  });
  expect(foreign.body["details"]).toEqual({ ignored: ["payout"] });
});

import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { statusCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

async function aClickId(offerId: number): Promise<string> {
  return (await world.addClick({ offer_id: offerId })).click_id;
}

test("adv1 to adv5 are stored as params, other unknown parameters are not (PB-019, CNV-011)", async () => {
  const click_id = await aClickId(await world.addOffer());
  const { body } = await world.report({ click_id, adv1: "a", adv5: "e", adv6: "f", color: "red" });
  expect(await world.conversion(body["conversion_id"])).toMatchObject({
    params: { adv1: "a", adv5: "e" },
  });
});

test("each channel records its method, also on offers for pixels only (CNV-012, PX-009, G36)", async () => {
  for (const conversion_method of ["any", "pixel"]) {
    const offerId = await world.addOffer({ conversion_method });
    const pixel = await world.report({ click_id: await aClickId(offerId) }, { endpoint: "px" });
    const script = await world.report(
      { click_id: await aClickId(offerId), js: "1" },
      { endpoint: "px" },
    );
    const methods = [pixel, script].map(
      async ({ body }) => (await world.conversion(body["conversion_id"]))["method"],
    );
    expect(await Promise.all(methods)).toEqual(["pixel", "js"]);
  }
  const server = await world.report({ click_id: await aClickId(await world.addOffer()) });
  expect(await world.conversion(server.body["conversion_id"])).toMatchObject({ method: "s2s" });
});

test("a pixel needs no token and ignores a wrong one (PX-005)", async () => {
  const offerId = await world.addOffer();
  for (const params of [{}, { token: "wrong" }]) {
    const reply = await world.report(
      { click_id: await aClickId(offerId), ...params },
      { endpoint: "px" },
    );
    expect(reply).toMatchObject({ httpStatus: 200, body: { ok: true, status: "approved" } });
  }
});

test("another event of the same click is no duplicate (LIFE-008)", async () => {
  const offerId = await world.addOffer();
  await world.addEvent(offerId, { code: "sale" });
  const click_id = await aClickId(offerId);
  for (const event of ["default", "sale"]) {
    expect((await world.report({ click_id, event })).body).toMatchObject({ status: "approved" });
  }
});

test("a conversion below the offer's minimum time is too fast (LIFE-018, G103)", async () => {
  const offerId = await world.addOffer({ min_seconds_to_conversion: 60 });
  const fast = await world.addClick({ offer_id: offerId, ageMs: 55_000 });
  const slow = await world.addClick({ offer_id: offerId, ageMs: 65_000 });
  expect((await world.report({ click_id: fast.click_id })).body).toMatchObject({
    status: "rejected",
    reason: "too_fast",
  });
  expect((await world.report({ click_id: slow.click_id })).body).toMatchObject({
    status: "approved",
  });
});

test("an answer has the fields that apply and no others (PB-056, PB-061, PB-002)", async () => {
  const offerId = await world.addOffer({ caps: { conversions: { total: 1 } } });
  const click_id = await aClickId(offerId);
  const first = await world.report({ click_id });
  expect(Object.keys(first.body).sort()).toEqual(["conversion_id", "ok", "status"]);
  const again = await world.report({ click_id });
  expect(again.body).toEqual({
    ok: true,
    conversion_id: again.body["conversion_id"],
    status: "rejected",
    reason: "duplicate",
    duplicate: true,
  });
  const capped = await world.report({ click_id: await aClickId(offerId) });
  expect(capped.body).toEqual({
    ok: true,
    conversion_id: capped.body["conversion_id"],
    status: "rejected",
    reason: "cap_exceeded",
  });
  const updated = await world.report({ click_id, status: "rejected" });
  expect(updated.body).toEqual({
    ok: true,
    conversion_id: first.body["conversion_id"],
    status: "rejected",
    reason: "postback_reversal",
    updated: true,
  });
});

test("a conversion cannot be changed after its event was deleted (PB-044, T50)", async () => {
  const offerId = await world.addOffer();
  const { body } = await world.report({ click_id: await aClickId(offerId) });
  await world.change("delete from offer_event where offer_id = $1", [offerId]);
  const reply = await world.report({
    conversion_id: String(body["conversion_id"]),
    status: "rejected",
  });
  expect(reply).toMatchObject({
    httpStatus: 200,
    body: { ok: false, error: "event of this conversion no longer exists" },
  });
});

test("a refused or test report stores only its row in the inbound log (PB-028, PB-055, PB-058)", async () => {
  const offerId = await world.addOffer({ conversion_method: "pixel" });
  const click_id = await aClickId(offerId);
  const open = await aClickId(await world.addOffer());
  const refused = [
    { click_id },
    { click_id: "0".repeat(32) },
    { click_id, event: "none" },
    { click_id, token: "wrong" },
    { amount: "-1", click_id },
  ];
  for (const params of refused) {
    const { body } = await world.report(params);
    expect(Object.keys(body).sort()).toEqual(["error", "ok"]);
    expect(body.ok).toBe(false);
  }
  expect((await world.report({ click_id: open, test: "1" })).body).toMatchObject({ test: true });
  const left = await world.rows(
    `select (select count(*) from conversion where click_id = any($1)) as conversions,
       (select count(*) from conversion_history h where not exists (select from conversion c where c.id = h.conversion_id)) as strays`,
    [[click_id, open]],
  );
  expect(left).toEqual([{ conversions: 0, strays: 0 }]);
});

test("a recorded conversion can be read with actor, time and reason of each change (PB-059, LIFE-032)", async () => {
  const terms = { payout_type: "cps", payout: "10", revenue_type: "rps", revenue: "20" };
  const click_id = await aClickId(await world.addOffer(terms));
  const { body } = await world.report({ click_id, amount: "100" });
  const id = String(body["conversion_id"]);
  await world.report({ conversion_id: id, amount: "50" });
  await world.command(
    statusCommand(world, { keyId: 9, ids: [id], status: "rejected", reason: "not paid" }),
  );
  const history = await world.rows(
    `select actor, key_id, from_status, to_status, reason, from_payout, to_payout, to_revenue, to_sale_amount
     from conversion_history where conversion_id = $1 order by id`,
    [id],
  );
  const money = { to_payout: "5.0000", to_revenue: "10.0000", to_sale_amount: "50.0000" };
  expect(history).toEqual([
    {
      actor: "postback",
      key_id: null,
      from_status: null,
      to_status: "approved",
      reason: "",
      from_payout: null,
      to_payout: "10.0000",
      to_revenue: "20.0000",
      to_sale_amount: "100.0000",
    },
    {
      actor: "postback",
      key_id: null,
      from_status: "approved",
      to_status: "approved",
      reason: "postback_reversal",
      from_payout: "10.0000",
      ...money,
    },
    {
      actor: "api",
      key_id: 9,
      from_status: "approved",
      to_status: "rejected",
      reason: "not paid",
      from_payout: "5.0000",
      ...money,
    },
  ]);
});

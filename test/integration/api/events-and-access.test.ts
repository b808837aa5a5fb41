import { expect, test } from "vitest";
import { z } from "zod";
import { lockOffer } from "../../../api/catalog/offers/offers.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, nextCursor, record, refusal } from "./api-world.ts";
import { untilWaiting } from "./locked-table.ts";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const foreign = await world.addTenant("foreign");

test("an event is changed by its code, and its offer with it (G44)", async () => {
  const offer = await world.offer({ events: [{ code: "sale", name: "Sale", payout: "3" }] });
  const path = `/offers/${offer.id}/events/sale`;
  const change = {
    name: "Big sale",
    payout_type: "cps",
    payout: "12.5000",
    is_private: true,
    allow_multiple: true,
  };
  const changed = await world.patch(path, change);
  expect([changed.status, changed.body]).toMatchObject([
    200,
    { data: { code: "sale", ...change } },
  ]);
  const after = record(await world.get(`/offers/${offer.id}`));
  expect(after["events"]).toMatchObject([{ code: "default" }, { code: "sale", ...change }]);
  expect(after["updated_at"]).not.toBe(offer["updated_at"]);
  const same = await world.patch(path, change);
  expect(record(same)).toEqual(record(changed));
  expect(record(await world.get(`/offers/${offer.id}`))["updated_at"]).toBe(after["updated_at"]);
});

test.each([
  ["payout", "sale", { payout: "101" }],
  ["code", "sale", { code: "other" }],
  ["payout_type", "sale", { payout_type: "cpc" }],
  ["payout", "default", { payout: "5" }],
  ["revenue_type", "default", { revenue_type: "rps" }],
] as const)(
  "PATCH of an event: a wrong %s of %s is refused with its name (G43)",
  async (field, code, body) => {
    const offer = await world.offer({
      events: [{ code: "sale", payout_type: "cps", payout: "5" }],
    });
    const answer = await world.patch(`/offers/${offer.id}/events/${code}`, body);
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields ?? {})).toEqual([field]);
  },
);

test("of concurrent changes of type and amount one is refused, if both make more than 100 percent (G45)", async () => {
  const offer = await world.offer({ events: [{ code: "sale", payout: "5" }] });
  const path = `/offers/${offer.id}/events/sale`;
  const answers = await inTransaction(world.pool, async (tx) => {
    await lockOffer(tx, offer.id);
    const sent = [world.patch(path, { payout_type: "cps" }), world.patch(path, { payout: "150" })];
    await untilWaiting(world.pool, 2);
    return sent;
  });
  const refused = (await Promise.all(answers)).filter(({ status }) => status !== 200);
  expect(refused.map(refusal)).toEqual(["400 validation_failed"]);
  expect(refused.flatMap((answer) => Object.keys(details(answer).fields))).toEqual(["payout"]);
});

test("an event is deleted unless it is the default or used (ERR-011, G44, G186)", async () => {
  const events = [{ code: "free" }, { code: "converted" }, { code: "paid" }];
  const offer = await world.offer({ events });
  const path = `/offers/${offer.id}/events`;
  const made = await world.post("/conversions", {
    offer_id: offer.id,
    affiliate_id: world.tenant.affiliateId,
    event: "converted",
  });
  expect(made.status).toBe(201);
  await world.post("/payout-overrides", {
    offer_id: offer.id,
    affiliate_id: world.tenant.affiliateId,
    event_code: "paid",
    payout_type: "cpa",
    payout: "1",
  });
  for (const code of ["default", "converted", "paid"])
    expect(refusal(await world.call("DELETE", `${path}/${code}`))).toBe("409 in_use");
  const deleted = await world.call("DELETE", `${path}/free`);
  expect([deleted.status, deleted.body]).toMatchObject([200, { data: { deleted: true } }]);
  expect((await world.call("DELETE", `${path}/free`)).status).toBe(404);
  const codes = z
    .array(z.looseObject({ code: z.string() }))
    .parse(record(await world.get(`/offers/${offer.id}`))["events"]);
  expect(codes.map(({ code }) => code)).toEqual(["default", "converted", "paid"]);
});

test("only admins of the workspace write events", async () => {
  const offer = await world.offer({ events: [{ code: "sale" }] });
  const path = `/offers/${offer.id}/events/sale`;
  const { keys } = world.tenant;
  expect(refusal(await world.patch(path, {}, keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await world.patch(path, {}, keys.partner))).toBe("403 forbidden");
  expect((await world.patch(path, {}, foreign.keys.admin)).status).toBe(404);
  expect((await world.call("DELETE", path, { key: foreign.keys.admin })).status).toBe(404);
});

const Rows = z.array(z.looseObject({ affiliate_code: z.string(), status: z.string() }));

test("partners' access to an offer is listed page by page, newest request first", async () => {
  const offer = await world.offer({ visibility: "approval" });
  const codes: string[] = [];
  for (const status of ["approved", "pending", "rejected"] as const) {
    const code = String(record(await world.post("/affiliates", { name: status }))["code"]);
    codes.unshift(code);
    await world.call("PUT", `/offers/${offer.id}/affiliates/${code}`, {
      body: { status, note: `is ${status}` },
    });
  }
  const path = `/offers/${offer.id}/affiliates`;
  const all = Rows.parse((await world.get(path)).body["data"]);
  expect(all.map((row) => row.affiliate_code)).toEqual(codes);
  expect(all.map((row) => row.status)).toEqual(["rejected", "pending", "approved"]);
  const first = await world.get(`${path}?limit=2`);
  const cursor = nextCursor(first);
  const second = await world.get(`${path}?limit=2&cursor=${String(cursor)}`);
  expect(
    [...Rows.parse(first.body["data"]), ...Rows.parse(second.body["data"])].map(
      (row) => row.affiliate_code,
    ),
  ).toEqual(codes);
  expect(nextCursor(second)).toBe(null);
  const other = await world.offer();
  expect(refusal(await world.get(`/offers/${other.id}/affiliates?cursor=${String(cursor)}`))).toBe(
    "400 invalid_cursor",
  );
  const pending = await world.get(`${path}?status=pending`);
  expect(Rows.parse(pending.body["data"])).toHaveLength(1);
  const { keys } = world.tenant;
  expect((await world.get(path, keys.analyst)).status).toBe(200);
  expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
  expect((await world.get(path, foreign.keys.admin)).status).toBe(404);
});

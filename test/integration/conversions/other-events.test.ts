import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { createCommand } from "./staff-commands.ts";
import { TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

async function appOffer(settings: Record<string, unknown> = {}): Promise<Record<string, string>> {
  const offerId = await world.addOffer(settings);
  await world.addEvent(offerId, { code: "deposit", payout: "5" });
  await world.addEvent(offerId, { code: "level", payout: "1", allow_multiple: true });
  return { offer_id: String(offerId), aff_id: "PARTNR", txid: "U" };
}

const REASON =
  "txid U is a conversion of the event default: on this offer an order is one conversion (txid_scope)";

test("another event with the same order number changes nothing and says so (#36, G220)", async () => {
  const lead = await appOffer();
  const first = await world.report(lead);
  for (const more of [{}, { status: "rejected" }, { amount: "50" }, { idempotency_key: "k" }]) {
    const { body } = await world.report({ ...lead, event: "deposit", ...more });
    expect(body, JSON.stringify(more)).toMatchObject({
      ok: true,
      status: "rejected",
      reason: "duplicate",
      duplicate: true,
      details: { reason: REASON },
    });
    expect(body).not.toHaveProperty("updated");
  }
  const keyed = { ...lead, event: "deposit", idempotency_key: "k" };
  expect((await world.report(keyed)).body).toMatchObject({ details: { reason: REASON } });
  expect(await world.conversion(first.body["conversion_id"])).toMatchObject({
    status: "approved",
    event_code: "default",
    version: 1,
  });
  const logged = async () =>
    await world.rows("select message from postback_log where params ->> 'event' = 'deposit'");
  await expect.poll(logged).toContainEqual({ message: `duplicate; ${REASON}` });
});

test("a report without an event changes the order's conversion, of whatever event (LIFE-039, G220)", async () => {
  const { event, ...lead } = { ...(await appOffer()), event: "deposit" };
  const made = await world.report({ ...lead, event });
  const rejected = await world.report({ ...lead, status: "rejected" });
  expect(rejected.body).toMatchObject({ updated: true, status: "rejected" });
  expect(rejected.body["conversion_id"]).toBe(made.body["conversion_id"]);
  const id = String(made.body["conversion_id"]);
  const other = await world.report({ conversion_id: id, event: "level", status: "approved" });
  expect(other.body).toMatchObject({
    ok: false,
    error: "unknown conversion_id",
    details: {
      reason: "the conversion is of the event deposit: leave event out, or name that one",
    },
  });
  const same = await world.report({ conversion_id: id, event, status: "approved" });
  expect(same.body).toMatchObject({ updated: true, status: "approved" });
});

test("with txid_scope event one lead ID serves all events, and each of them once (#36, G220)", async () => {
  const lead = await appOffer({ txid_scope: "event" });
  const events = ["default", "deposit", "level"];
  const made = await Promise.all(events.map((event) => world.report({ ...lead, event })));
  expect(made.map(({ body }) => [body["status"], body["reason"]])).toEqual(
    events.map(() => ["approved", undefined]),
  );
  const again = await Promise.all(events.map((event) => world.report({ ...lead, event })));
  for (const { body } of again) {
    expect(body).toMatchObject({ status: "rejected", reason: "duplicate" });
    expect(body).not.toHaveProperty("details");
  }
  const changed = await world.report({ ...lead, event: "deposit", status: "rejected" });
  expect(changed.body).toMatchObject({ updated: true, status: "rejected" });
  expect(changed.body["conversion_id"]).toBe(made[1]?.body["conversion_id"]);
  const offerId = Number(lead["offer_id"]);
  const command = { offerId, advTxid: "V" };
  expect(await world.command(createCommand(world, command))).toMatchObject({ kind: "created" });
  expect(await world.command(createCommand(world, command))).toMatchObject({ code: "conflict" });
  expect(
    await world.command(createCommand(world, { ...command, eventCode: "deposit" })),
  ).toMatchObject({ kind: "created" });
});

test("of 20 equal reports at once one is recorded, for each event (P16, G220)", async () => {
  const lead = await appOffer({ txid_scope: "event" });
  const reports = Array.from({ length: 20 }, (_, index) =>
    world.report({ ...lead, event: index % 2 === 0 ? "default" : "deposit" }),
  );
  const statuses = (await Promise.all(reports)).map(({ body }) => body["status"]);
  expect(statuses.filter((status) => status === "approved")).toHaveLength(2);
});

test("a change of the scope forgets no order number (G220)", async () => {
  const lead = await appOffer();
  const setScope = async (scope: string): Promise<void> =>
    await world.change("update offer set txid_scope = $2 where id = $1", [lead["offer_id"], scope]);
  const statusOf = async (event: string): Promise<unknown> =>
    (await world.report({ ...lead, event })).body["status"];
  expect(await statusOf("default")).toBe("approved");
  await setScope("event");
  expect([await statusOf("default"), await statusOf("deposit")]).toEqual(["rejected", "approved"]);
  await setScope("offer");
  expect([await statusOf("default"), await statusOf("level")]).toEqual(["rejected", "rejected"]);
  const other = { ...lead, txid: "W" };
  await setScope("event");
  expect((await world.report({ ...other, event: "deposit" })).body["status"]).toBe("approved");
  await setScope("offer");
  expect((await world.report(other)).body).toMatchObject({ reason: "duplicate" });
  expect((await world.report({ ...other, status: "rejected" })).body).toMatchObject({
    updated: true,
  });
});

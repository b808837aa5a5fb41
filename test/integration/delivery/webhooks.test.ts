import { beforeEach, describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { verifyWebhook } from "../../system/verify-webhook.ts";
import { statusCommand } from "../conversions/staff-commands.ts";
import type { Received } from "../outgoing/receiver.ts";
import { DeliveryWorld, WEBHOOK_SECRET } from "./delivery-world.ts";

const world = await forThisFile(DeliveryWorld.open());
world.startLane();
const offerId = await world.tracking.addOffer({ code: "SHOP01" });
beforeEach(async () => {
  world.receiver.answer((response) => void response.end());
  await world.tracking.rows("delete from webhook");
});

/** Rows of a conversion's deliveries to webhooks. */
async function queued(conversionId: string): Promise<Record<string, unknown>[]> {
  return await world.tracking.rows(
    `select event, status, attempts, error, response_status, response_body, event_id
     from delivery where kind = 'webhook' and conversion_id = $1 order by created_at, id`,
    [conversionId],
  );
}

async function setStatus(ids: string[], status: "approved" | "rejected"): Promise<void> {
  await world.tracking.command(
    statusCommand(world.tracking, { ids, bulk: true, status, reason: "manual" }),
  );
}

describe("conversion events", () => {
  test("a report is sent as conversion.created, signed (WH-001, WH-002, WH-003, WH-004, WH-005, WH-006, T62)", async () => {
    await world.addWebhook("created");
    const id = await world.convert(
      offerId,
      { payout: "2.5", adv_txid: "order-1", sale_amount: "99.99" },
      { sub1: "one", country: "DE", device_type: "mobile", source_id: "src", gclid: "g-1" },
    );
    const [document] = await world.told("created", 1);
    const [request] = world.arrived("created");
    const [row] = await world.deliveries(id);
    if (document === undefined || row === undefined) throw new Error("nothing arrived");
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Tracker-Webhook/1.0",
      "x-tracker-event": "conversion.created",
      "x-tracker-delivery": row.id,
    });
    const { data, ...envelope } = document;
    expect(Object.keys(envelope)).toEqual(["id", "event", "workspace_id", "created_at"]);
    expect(envelope).toMatchObject({
      event: "conversion.created",
      workspace_id: world.tracking.workspaceId,
    });
    expect(envelope.created_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    expect(Math.abs(Date.parse(envelope.created_at) - Date.now())).toBeLessThan(60_000);
    const stored = await world.tracking.conversion(id);
    expect(data).toEqual({
      id,
      click_id: stored["click_id"],
      offer_id: offerId,
      advertiser_id: stored["advertiser_id"],
      affiliate_id: world.tracking.affiliateId,
      event: "default",
      status: "approved",
      status_reason: "",
      revenue: stored["revenue"],
      payout: stored["payout"],
      sale_amount: stored["sale_amount"],
      currency: "USD",
      adv_txid: stored["adv_txid"] ?? "",
      method: "s2s",
      conv_ts: stored["conv_ts"],
      click_ts: stored["click_ts"],
      sub1: "one",
      sub2: "",
      sub3: "",
      sub4: "",
      sub5: "",
      source_id: "src",
      gclid: "g-1",
      country: "DE",
      device_type: "mobile",
    });
    expect(data["payout"]).toMatch(/^\d+\.\d{4}$/);
  });

  test("duplicates and rejected conversions are also sent as created (WH-006, G133)", async () => {
    await world.addWebhook("every", { events: ["conversion.created"] });
    const { click_id } = await world.tracking.addClick({ offer_id: offerId });
    await world.tracking.report({ click_id });
    await world.tracking.report({ click_id });
    await world.convert(offerId, { status: "rejected" });
    const documents = await world.told("every", 3);
    const { rows } = await world.tracking.pool.query<{ count: number }>({
      text: "select count(*) as count from conversion where click_id = $1",
      values: [click_id],
    });
    expect(documents).toHaveLength(1 + (rows[0]?.count ?? 0));
    expect(documents.map(({ data }) => data["status"])).toContain("rejected");
  });

  test("a change of status is sent as conversion.updated with the earlier values (WH-007)", async () => {
    await world.addWebhook("updated", { events: ["conversion.updated"] });
    const id = await world.convert(offerId);
    await world.setStatus(id, "rejected");
    const [document] = await world.told("updated", 1);
    expect(Object.keys(document ?? {}).toSorted()).toEqual([
      "created_at",
      "data",
      "event",
      "id",
      "previous",
      "workspace_id",
    ]);
    expect(document?.previous).toEqual({
      status: "approved",
      revenue: "15.0000",
      payout: "10.0000",
      sale_amount: "0.0000",
    });
    expect(document?.data).toMatchObject({ id, status: "rejected", status_reason: "manual" });
  });

  test("a change of money by a report is sent (WH-007)", async () => {
    await world.addWebhook("money", { events: ["conversion.updated"] });
    const id = await world.convert(offerId, { sale_amount: "100" });
    await world.tracking.report({ conversion_id: id, sale_amount: "80" });
    const [document] = await world.told("money", 1);
    expect(document?.previous).toMatchObject({ status: "approved", sale_amount: "100.0000" });
    expect(document?.data).toMatchObject({ id, sale_amount: "80.0000" });
  });

  test("the end of a hold is sent as a change of status (WH-007, G98)", async () => {
    await world.addWebhook("held", { events: ["conversion.updated"] });
    const id = await world.convert(await world.tracking.addOffer({ hold_days: "1" }));
    await world.tracking.rows("update conversion set hold_until = now() where id = $1", [id]);
    await world.tracking.rows("select release_due_holds(10)");
    const documents = await world.told("held", 1);
    expect(documents).toMatchObject([
      { previous: { status: "pending" }, data: { id, status: "approved", status_reason: "" } },
    ]);
  });

  test("a bulk change sends one document per changed conversion (WH-008)", async () => {
    await world.addWebhook("bulk", { events: ["conversion.updated"] });
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.push(await world.convert(offerId));
    await world.setStatus(ids[0] ?? "", "rejected");
    await setStatus(ids, "rejected");
    const documents = await world.told("bulk", 5);
    expect(documents.map(({ data }) => String(data["id"])).toSorted()).toEqual(ids.toSorted());
    expect(new Set(documents.map(({ id }) => id)).size).toBe(5);
  });

  test("a change without effect is not sent (WH-009, T63)", async () => {
    await world.addWebhook("same", { events: ["conversion.updated"] });
    const id = await world.convert(offerId);
    await world.setStatus(id, "approved");
    await setStatus([id], "approved");
    await world.tracking.report({ conversion_id: id, status: "approved" });
    expect(await queued(id)).toEqual([]);
  });

  test("a refused report is sent to no webhook (WH-011)", async () => {
    await world.addWebhook("refused");
    const before = await world.tracking.rows("select id from delivery");
    const reply = await world.tracking.report({ click_id: "f".repeat(32) });
    expect(reply.body["conversion_id"]).toBeUndefined();
    expect(await world.tracking.rows("select id from delivery")).toEqual(before);
  });

  test("active webhooks get the events of their workspace that they subscribed to (WH-010)", async () => {
    const other = await world.tracking.insert("workspace", {
      slug: "other",
      name: "Other",
      postback_token: "other-token",
    });
    await world.addWebhook("of-created", { events: ["conversion.created"] });
    await world.addWebhook("of-updated", { events: ["conversion.updated"] });
    await world.addWebhook("of-offers", { events: ["offer.created", "affiliate.updated"] });
    await world.addWebhook("of-both");
    await world.addWebhook("inactive", { active: false });
    await world.addWebhook("elsewhere", { workspace_id: other });
    const id = await world.convert(offerId);
    await world.setStatus(id, "rejected");
    await world.settled(id);
    const events = async (path: string) =>
      world.arrived(path).map(({ headers }) => headers["x-tracker-event"]);
    expect(await events("of-created")).toEqual(["conversion.created"]);
    expect(await events("of-updated")).toEqual(["conversion.updated"]);
    expect(new Set(await events("of-both"))).toEqual(
      new Set(["conversion.created", "conversion.updated"]),
    );
    for (const path of ["of-offers", "inactive", "elsewhere"])
      expect(await events(path)).toEqual([]);
    // An event has the same id for every webhook.
    const [toOne] = await world.told("of-created", 1);
    const toBoth = await world.told("of-both", 2);
    expect(toBoth.map((document) => document.id)).toContain(toOne?.id);
  });
});

describe("delivery", () => {
  test("500, then 200: same bytes and ids, a new signature (WH-014, WH-020, WH-021, T61)", async () => {
    await world.addWebhook("again", { events: ["conversion.created"] });
    let requests = 0;
    world.receiver.answer((response) => {
      requests += 1;
      response.writeHead(requests === 1 ? 500 : 200, { "retry-after": "1" }).end("so");
    });
    const id = await world.convert(offerId);
    await world.settled(id);
    const [first, second] = world.arrived("again");
    expect(second?.bytes).toEqual(first?.bytes);
    expect(second?.headers["x-tracker-delivery"]).toBe(first?.headers["x-tracker-delivery"]);
    expect(Number(second?.headers["x-tracker-timestamp"])).toBeGreaterThan(
      Number(first?.headers["x-tracker-timestamp"]),
    );
    await world.told("again", 2);
    expect(await queued(id)).toMatchObject([
      { status: "delivered", attempts: 2, response_status: 200, response_body: "so" },
    ]);
  });

  test("a delivery that waited for an hour is signed with the time of sending (WH-021)", async () => {
    await world.stopLanes();
    await world.addWebhook("late", { events: ["conversion.created"] });
    const id = await world.convert(offerId);
    await world.tracking.rows(
      "update delivery set created_at = created_at - interval '1 hour' where conversion_id = $1",
      [id],
    );
    world.startLane();
    expect(await world.told("late", 1)).toMatchObject([{ data: { id } }]);
  });

  test.each([
    [410, "HTTP 410 Gone", 1],
    [302, "HTTP 302 Found", 4],
    [400, "HTTP 400 Bad Request", 4],
  ])(
    "%i is logged as %s after %i attempts (WH-014, WH-022, G130)",
    async (status, error, attempts) => {
      await world.addWebhook(`answers${status}`, { events: ["conversion.created"] });
      world.receiver.answer((response) =>
        response.writeHead(status, { location: world.url("elsewhere") }).end("no"),
      );
      const id = await world.convert(offerId);
      await world.settled(id);
      expect(await queued(id)).toMatchObject([
        { status: "failed", attempts, error, response_status: status, response_body: "no" },
      ]);
      expect(world.arrived("elsewhere")).toEqual([]);
    },
  );

  test("queued deliveries of a webhook that was switched off are not sent (WH-010)", async () => {
    await world.stopLanes();
    const webhookId = await world.addWebhook("off", { events: ["conversion.created"] });
    const id = await world.convert(offerId);
    await world.tracking.rows("update webhook set active = false where id = $1", [webhookId]);
    world.startLane();
    await world.settled(id);
    expect(await queued(id)).toMatchObject([
      { status: "failed", attempts: 0, error: "webhook is not active" },
    ]);
    expect(world.arrived("off")).toEqual([]);
  });

  test("a webhook whose last 25 deliveries failed is switched off with a reason", async () => {
    const webhookId = await world.addWebhook("dead", { events: ["conversion.created"] });
    world.receiver.answer((response) => response.writeHead(410).end());
    const state = async () =>
      (
        await world.tracking.rows("select active, disabled_reason from webhook where id = $1", [
          webhookId,
        ])
      )[0];
    for (let i = 0; i < 24; i += 1) await world.convert(offerId);
    await until(
      "24 have failed",
      async () =>
        (
          await world.tracking.rows(
            "select id from delivery where endpoint_id = $1 and kind = 'webhook' and status = 'failed'",
            [webhookId],
          )
        ).length === 24,
    );
    expect(await state()).toEqual({ active: true, disabled_reason: "" });
    await world.settled(await world.convert(offerId));
    expect(await state()).toEqual({
      active: false,
      disabled_reason: "25 deliveries in a row failed, the last one with: HTTP 410 Gone",
    });
    await world.tracking.rows("update webhook set active = true where id = $1", [webhookId]);
    expect(await state()).toEqual({ active: true, disabled_reason: "" });
  });
});

test("the verifier of these tests rejects a wrong signature, time or body", async () => {
  await world.addWebhook("verified", { events: ["conversion.created"] });
  await world.convert(offerId);
  await world.told("verified", 1);
  const [request] = world.arrived("verified");
  if (request === undefined) throw new Error("nothing arrived");
  const changed = (change: Partial<Received>) => () =>
    verifyWebhook({ ...request, ...change }, WEBHOOK_SECRET);
  const { headers } = request;
  expect(changed({})).not.toThrow();
  expect(changed({ bytes: Buffer.from(`${request.body} `) })).toThrow("signature");
  expect(changed({ atMs: Date.now() + 400_000 })).toThrow("signed for");
  expect(changed({ headers: { ...headers, "x-tracker-timestamp": "1" } })).toThrow("signed for");
  expect(() => verifyWebhook(request, `${WEBHOOK_SECRET}0`)).toThrow("signature");
});

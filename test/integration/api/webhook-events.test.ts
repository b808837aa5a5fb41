import { beforeEach, describe, expect, test } from "vitest";
import { ShownOffer } from "../../../api/catalog/offers/offer-fields.ts";
import { sampleOf } from "../../../api/messages/webhooks/sample-data.ts";
import { WEBHOOK_EVENTS } from "../../../api/records/webhook-events.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { isSignedWith } from "../../system/verify-webhook.ts";
import { type Json, list, nextCursor, record, refusal, someText } from "./api-world.ts";
import { WebhookWorld } from "./webhook-world.ts";

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
beforeEach(() => hooks.reset());

describe("delivery log", () => {
  test("the log pages newest first; a retry is a new delivery of the same bytes (WH-015, WH-020, WH-022)", async () => {
    const hook = await hooks.listen("log", ["offer.created"]);
    hooks.receiver.answer((response) => response.writeHead(410).end("gone"));
    for (let i = 0; i < 3; i += 1) await world.offer();
    const path = `/webhooks/${hook.id}/deliveries`;
    await hooks.untilDeliveries(hook, "failed", 3);
    const rows = list(await world.get(path));
    expect(rows[0]).toEqual({
      id: someText,
      webhook_id: hook.id,
      event: "offer.created",
      event_id: someText,
      url: hook.url,
      attempts: 1,
      total_attempts: 1,
      status: "failed",
      error: "HTTP 410 Gone",
      response_status: 410,
      response_body: "gone",
      next_attempt_at: null,
      created_at: someText,
      finished_at: someText,
    });
    const first = await world.get(`${path}?limit=2`);
    const second = await world.get(`${path}?limit=2&cursor=${nextCursor(first) ?? ""}`);
    expect([...list(first), ...list(second)]).toEqual(rows);
    expect(nextCursor(second)).toBeNull();

    hooks.receiver.answer((response) => void response.end());
    const [row] = rows;
    if (row === undefined) throw new Error("the log has rows");
    const retry = async (id: unknown) =>
      record(await world.call("POST", `/webhook-deliveries/${String(id)}/retry`));
    const again = await retry(row.id);
    expect(again).toMatchObject({ status: "pending", event_id: row["event_id"], attempts: 0 });
    expect(again.id).not.toBe(row.id);
    const retried = await hooks.request(hook, 4);
    expect(retried.headers["x-tracker-delivery"]).toBe(again.id);
    const requests = await hooks.arrived(hook, 4);
    const original = requests.find(({ headers }) => headers["x-tracker-delivery"] === row.id);
    expect(retried.bytes).toEqual(original?.bytes);
    expect(JSON.parse(retried.body)).toMatchObject({ id: again["event_id"] });
    // A delivered one may be sent again, too (consumers recognise the id), also while the webhook is inactive.
    await world.patch(`/webhooks/${hook.id}`, { active: false });
    await retry(again.id);
    expect((await hooks.request(hook, 5)).bytes).toEqual(original?.bytes);
    const foreignRetry = await world.call("POST", `/webhook-deliveries/${again.id}/retry`, {
      key: hooks.foreign.keys.admin,
    });
    expect(refusal(foreignRetry)).toBe("404 not_found");
    const shown = record(await world.get(`/webhook-deliveries/${row.id}`));
    expect(shown).toMatchObject({ id: row.id, status: "failed", total_attempts: 1 });
    expect(shown["history"]).toMatchObject([
      { number: 1, method: "POST", body: original?.body, response_status: 410 },
    ]);
    const foreignKey = hooks.foreign.keys.admin;
    expect(refusal(await world.get(`/webhook-deliveries/${row.id}`, foreignKey))).toBe(
      "404 not_found",
    );
  });

  test("a new secret signs the next delivery and later attempts of earlier ones (WH-013)", async () => {
    const hook = await hooks.listen("rotated", ["offer.created"]);
    hooks.receiver.answer((response) => response.writeHead(500, { "retry-after": "1" }).end());
    await world.offer();
    const before = await hooks.request(hook, 1);
    const { secret } = record(await world.call("POST", `/webhooks/${hook.id}/rotate-secret`));
    hooks.receiver.answer((response) => void response.end());
    const after = await hooks.request(hook, 2);
    expect([isSignedWith(before, hook.secret), isSignedWith(before, String(secret))]).toEqual([
      true,
      false,
    ]);
    expect([isSignedWith(after, hook.secret), isSignedWith(after, String(secret))]).toEqual([
      false,
      true,
    ]);
    await world.offer();
    expect(isSignedWith(await hooks.request(hook, 3), String(secret))).toBe(true);
  });

  test.each(WEBHOOK_EVENTS)(
    "a test of %s is a signed, marked document, with any subscription (WH-012)",
    async (event) => {
      const hook = await hooks.listen(`test-${event}`, ["affiliate.signup"], { active: false });
      const answer = await world.post(`/webhooks/${hook.id}/test`, { event });
      expect(answer.status).toBe(200);
      const [document] = await hooks.told(hook, 1);
      expect(document).toEqual({
        id: record(answer)["event_id"],
        event,
        workspace_id: world.tenant.workspaceId,
        created_at: someText,
        test: true,
        ...sampleOf(event),
      });
    },
  );

  test("only existing events can be tested (WH-012)", async () => {
    const hook = record(await hooks.create());
    for (const body of [{ event: "click.created" }, {}, { event: "offer.created", data: {} }])
      expect(refusal(await world.post(`/webhooks/${hook.id}/test`, body))).toBe(
        "400 validation_failed",
      );
    expect(refusal(await world.post("/webhooks/999999/test", { event: "offer.created" }))).toBe(
      "404 not_found",
    );
  });
});

describe("events of the API", () => {
  test("a change sends one event, a refused one none (WH-006, WH-007, WH-008, WH-009, WH-011)", async () => {
    const hook = await hooks.listen("conversions", ["conversion.created", "conversion.updated"]);
    const offer = await world.offer();
    const body = { offer_id: offer.id, affiliate_id: world.tenant.affiliateId };
    const post = async (fields: Json = {}) =>
      await world.post("/conversions", { ...body, ...fields });
    const one = record(await post({ adv_txid: "order-1" })).id;
    expect((await post({ adv_txid: "order-1" })).status).toBe(409);
    const other = record(await post()).id;
    for (const status of ["pending", "pending"])
      await world.patch(`/conversions/${one}`, { status });
    await world.patch("/conversions", { ids: [one, other], status: "approved" });
    await world.patch("/conversions", { ids: [one, other], status: "rejected" });
    const documents = await hooks.told(hook, 6);
    expect(
      documents
        .map(({ event, data, previous }) =>
          [event, data["id"], previous?.["status"], data["status"]].join(" "),
        )
        .toSorted(),
    ).toEqual(
      [
        `conversion.created ${one}  approved`,
        `conversion.created ${other}  approved`,
        `conversion.updated ${one} approved pending`,
        `conversion.updated ${one} pending approved`,
        `conversion.updated ${one} approved rejected`,
        `conversion.updated ${other} approved rejected`,
      ].toSorted(),
    );
    expect(await hooks.deliveries(hook)).toHaveLength(6);
  });

  test("an offer is sent as REST shows it, a change with earlier values (WH-018, G128)", async () => {
    const hook = await hooks.listen("offers", ["offer.created", "offer.updated"]);
    const offer = await world.offer({ payout: "3", events: [{ code: "vip", payout: "5" }] });
    const changed = record(await world.patch(`/offers/${offer.id}`, { payout: "4", tags: ["a"] }));
    await world.patch(`/offers/${offer.id}`, { payout: "4.0000" });
    const documents = await hooks.told(hook, 2);
    const created = documents.find(({ event }) => event === "offer.created");
    const updated = documents.find(({ event }) => event === "offer.updated");
    expect(created?.data).toEqual(offer);
    expect(created).not.toHaveProperty("previous");
    expect(updated?.data).toEqual(changed);
    expect(updated?.previous).toEqual({ payout: "3.0000", tags: [], events: offer["events"] });
    // A refused or rolled back change sends nothing (WH-011).
    const taken = { name: "x", advertiser_id: offer["advertiser_id"], code: offer["code"] };
    const again = await world.post("/offers", { ...taken, destination_url: "https://x.example/" });
    expect(refusal(again)).toBe("409 conflict");
    expect((await world.patch(`/offers/${offer.id}`, { payout: "-1" })).status).toBe(400);
    expect((await world.post("/offers", { name: "x" })).status).toBe(400);
    expect(await hooks.deliveries(hook)).toHaveLength(2);
  });

  test("creating, changing or deleting an event changes its offer (WH-018)", async () => {
    const hook = await hooks.listen("events", ["offer.updated"]);
    const offer = await world.offer();
    const path = `/offers/${offer.id}/events`;
    await world.post(path, { code: "lead" });
    await world.patch(`${path}/lead`, { name: "Lead" });
    await world.patch(`${path}/lead`, { name: "Lead" });
    await world.call("DELETE", `${path}/lead`);
    const documents = await hooks.told(hook, 3);
    expect(documents.map(({ previous }) => Object.keys(previous ?? {}))).toEqual([
      ["events"],
      ["events"],
      ["events"],
    ]);
    const names = documents.map(({ data }) => ShownOffer.parse(data)["events"]);
    expect(names).toContainEqual(offer["events"]);
    expect(await hooks.deliveries(hook)).toHaveLength(3);
  });

  test("affiliate.updated has eight fields; a new partner sends nothing (WH-018, WH-019, G129)", async () => {
    const hook = await hooks.listen("partners", ["affiliate.updated", "affiliate.signup"]);
    const made = record(
      await world.post("/affiliates", { name: "Acme", payment_details: { wire: "IBAN-SECRET" } }),
    );
    await world.patch(`/affiliates/${made.id}`, { status: "blocked", notes: "private words" });
    await world.patch(`/affiliates/${made.id}`, { status: "blocked" });
    const [document] = await hooks.told(hook, 1);
    expect(document?.data).toEqual({
      id: made.id,
      code: made["code"],
      name: "Acme",
      status: "blocked",
      email: "",
      company: "",
      country: "",
      created_at: made["created_at"],
    });
    expect(document?.previous).toEqual({ status: "active" });
    const { body } = await hooks.request(hook, 1);
    expect(body).not.toMatch(/IBAN-SECRET|private words/);
    expect(await hooks.deliveries(hook)).toHaveLength(1);
  });

  test("a request for access and its decision are sent once each (WH-018, G129)", async () => {
    const hook = await hooks.listen("access", ["access.requested", "access.decided"]);
    const offer = await world.offer({ visibility: "private" });
    const path = `/offers/${offer.id}/affiliates/${world.tenant.affiliateCode}`;
    const put = async (status: string, note: string) =>
      (await world.call("PUT", path, { body: { status, note } })).body["data"];
    const pending = await put("pending", "please");
    await put("pending", "please");
    const approved = await put("approved", "welcome");
    await put("approved", "welcome");
    const documents = await hooks.told(hook, 2);
    const about = { offer_id: offer.id, offer_code: offer["code"], offer_name: offer["name"] };
    expect(documents.find(({ event }) => event === "access.requested")?.data).toEqual({
      ...about,
      ...Object(pending),
    });
    expect(documents.find(({ event }) => event === "access.decided")?.data).toEqual({
      ...about,
      ...Object(approved),
    });
    expect(await hooks.deliveries(hook)).toHaveLength(2);
  });

  test("no document has a secret of the workspace or of an advertiser (WH-019)", async () => {
    const hook = await hooks.listen("all", WEBHOOK_EVENTS);
    const offer = await world.offer();
    await world.patch(`/advertisers/${world.tenant.advertiserId}`, { company: "Shop Ltd" });
    await world.patch(`/offers/${offer.id}`, { name: "Other" });
    await world.post("/conversions", {
      offer_id: offer.id,
      affiliate_id: world.tenant.affiliateId,
    });
    await world.patch(`/affiliates/${world.tenant.affiliateId}`, { company: "Partner Ltd" });
    const documents = await hooks.told(hook, 4);
    const { rows } = await world.pool.query<{ secret: string }>({
      text: `select postback_token as secret from advertiser union all select postback_token from workspace
             union all select secret from webhook`,
    });
    const text = JSON.stringify(documents);
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.filter(({ secret }) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/postback_token|whsec_|payment_details/);
  });

  test("samples have the fields of the real documents", async () => {
    const offer = await world.offer();
    const keys = (data: object) => Object.keys(data).toSorted();
    for (const event of ["offer.created", "offer.updated"] as const)
      expect(keys(sampleOf(event).data)).toEqual(keys(offer));
    const hook = await hooks.listen("samples", [
      "conversion.created",
      "affiliate.updated",
      "access.decided",
    ]);
    const { affiliateId, affiliateCode } = world.tenant;
    await world.post("/conversions", { offer_id: offer.id, affiliate_id: affiliateId });
    await world.patch(`/affiliates/${affiliateId}`, { company: "Sampled Ltd" });
    await world.call("PUT", `/offers/${offer.id}/affiliates/${affiliateCode}`, {
      body: { status: "approved" },
    });
    for (const { event, data } of await hooks.told(hook, 3)) {
      const sample = WEBHOOK_EVENTS.find((name) => name === event);
      expect(sample === undefined ? [] : keys(sampleOf(sample).data), event).toEqual(keys(data));
    }
  });
});

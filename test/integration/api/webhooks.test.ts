import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ShownOffer } from "../../../api/offers/offer-fields.ts";
import { sampleOf } from "../../../api/webhooks/sample-data.ts";
import { WEBHOOK_EVENTS } from "../../../api/webhooks/webhook-events.ts";
import { until } from "../../system/until.ts";
import { isSignedWith, verifyWebhook, type WebhookDocument } from "../../system/verify-webhook.ts";
import { type Received, type Receiver, startReceiver } from "../outgoing/receiver.ts";
import {
  ApiWorld,
  details,
  type Json,
  list,
  nextCursor,
  record,
  refusal,
  someId,
  someText,
  type Tenant,
} from "./api-world.ts";

let world: ApiWorld;
let receiver: Receiver;
let foreign: Tenant;
/** Of the process that lets webhooks lead to this machine. */
let loopback: string;
const SOON = { timeoutMs: 10_000, pollMs: 20 };
const URL_OUTSIDE = "https://hooks.shop.example/tracker";

beforeAll(async () => {
  world = await ApiWorld.open();
  loopback = await world.startAnother({ allowLoopback: true });
  receiver = await startReceiver();
  await world.startProcessor();
  world.startDeliveries();
  foreign = await world.addTenant("foreign");
});
beforeEach(async () => {
  receiver.answer((response) => void response.end());
  await world.db.query({ text: "delete from webhook" });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

async function create(fields: Json = {}, key = world.tenant.keys.admin) {
  const body = { name: "Hook", url: URL_OUTSIDE, events: ["conversion.created"], ...fields };
  return await world.post("/webhooks", body, key);
}

/** A webhook at a path of the receiver. */
async function listen(path: string, events: readonly string[], fields: Json = {}) {
  const url = `http://127.0.0.1:${receiver.port}/${path}`;
  const body = { name: path, url, events, ...fields };
  const hook = record(await world.callAt(loopback, "POST", "/webhooks", { body }));
  return { ...hook, secret: String(hook["secret"]) };
}

/** The requests at a path, once there are so many. */
async function arrived(path: string, count: number): Promise<Received[]> {
  const at = () => receiver.received.filter(({ target }) => target === `/${path}`);
  return await until(`${count} requests at ${path}`, () => at().length >= count && at(), SOON);
}

async function told(hook: Json & { secret: string }, count: number): Promise<WebhookDocument[]> {
  const requests = await arrived(String(hook["name"]), count);
  return requests.map((request) => verifyWebhook(request, hook.secret));
}

describe("REST", () => {
  test("a webhook has its fields, a secret of 48 hex and is active (G131, WH-016)", async () => {
    const answer = await create();
    expect(answer.status).toBe(201);
    const made = record(answer);
    expect(made).toEqual({
      ...{ id: someId, name: "Hook", url: URL_OUTSIDE, events: ["conversion.created"] },
      ...{ active: true, secret: someText, created_at: someText, updated_at: someText },
    });
    expect(made["secret"]).toMatch(/^whsec_[0-9a-f]{48}$/);
    expect(record(await world.get(`/webhooks/${made.id}`))).toEqual(made);
    expect(list(await world.get("/webhooks"))).toEqual([made]);
    const changed = record(
      await world.patch(`/webhooks/${made.id}`, { active: false, events: ["offer.updated"] }),
    );
    expect(changed).toMatchObject({ active: false, events: ["offer.updated"], name: "Hook" });
    expect(changed["secret"]).toBe(made["secret"]);
    const removed = await world.call("DELETE", `/webhooks/${made.id}`);
    expect(removed.body).toEqual({ data: { id: made.id, deleted: true } });
    expect(refusal(await world.get(`/webhooks/${made.id}`))).toBe("404 not_found");
  });

  test("WH-018: every event of G128 can be subscribed to, and no other", async () => {
    const events = [
      ...["conversion.created", "conversion.updated", "offer.created", "offer.updated"],
      ...["affiliate.signup", "affiliate.updated", "access.requested", "access.decided"],
    ];
    expect(record(await create({ events }))["events"]).toEqual(events);
    for (const wrong of [
      ["click.created"],
      [],
      ["offer.created", "offer.created"],
      "offer.created",
    ])
      expect(
        Object.keys(details(await create({ events: wrong })).fields).join(),
        String(wrong),
      ).toMatch(/^events/);
    expect(details(await world.post("/webhooks", {})).fields).toEqual({
      ...{ name: "required", url: "required", events: "required" },
    });
  });

  test.each([
    ...[
      "ftp://hooks.example/",
      "hooks.example",
      "//hooks.example/",
      "http://",
      "https:// x.example/",
    ],
    ...["https://user:pass@hooks.example/", "https://user@hooks.example/", "http://93.184.216.34/"],
    ...[
      "http://[2606:2800:220:1::1]/",
      "http://2130706433/",
      "http://0x7f.1/",
      "http://127.0.0.1/",
    ],
    ...[
      "http://[::1]:8080/",
      "http://[::ffff:10.0.0.1]/",
      "http://localhost:8080/",
      "http://LOCALHOST./",
    ],
    ...[
      "http://app.localhost/",
      "http://intranet/",
      "http://db.internal/",
      "http://printer.local/",
    ],
    ...[
      "http://metadata.google.internal/",
      "http://nas.lan/",
      "http://x.home.arpa/",
      "http://a.corp/",
    ],
  ])("WH-016: %s is refused", async (url) => {
    const answer = await create({ url });
    expect(refusal(answer)).toBe("400 validation_failed");
    expect(Object.keys(details(answer).fields)).toEqual(["url"]);
    const hook = record(await create());
    expect(refusal(await world.patch(`/webhooks/${hook.id}`, { url }))).toBe(
      "400 validation_failed",
    );
  });

  test.each([
    "http://hooks.shop.example",
    "https://hooks.example:8443/a/b?c=d",
    "https://xn--bcher-kva.example/",
  ])("WH-016: %s is taken", async (url) => {
    expect(record(await create({ url }))["url"]).toBe(url);
  });

  test("WH-016 G127: for trying out, loopback alone may be named", async () => {
    const at = async (url: string) =>
      await world.callAt(loopback, "POST", "/webhooks", {
        body: { name: "Hook", url, events: ["offer.created"] },
      });
    for (const url of ["http://127.0.0.1:9/", "http://localhost:9/x", "http://[::1]:9/"])
      expect((await at(url)).status, url).toBe(201);
    for (const url of [
      "http://10.0.0.1/",
      "http://127.0.0.2/",
      "http://db.internal/",
      "http://u:p@localhost/",
    ])
      expect(refusal(await at(url)), url).toBe("400 validation_failed");
  });

  test("WH-017: of 60 at once 50 are made, and another one when one is gone", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => create()));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(50);
    const refused = answers.filter(({ status }) => status !== 201).map(refusal);
    expect(new Set(refused)).toEqual(new Set(["409 conflict"]));
    expect(list(await world.get("/webhooks?limit=200"))).toHaveLength(50);
    const { keys } = foreign;
    expect((await create({}, keys.admin)).status).toBe(201);
    const [first] = made;
    if (first !== undefined) await world.call("DELETE", `/webhooks/${record(first).id}`);
    expect((await create()).status).toBe(201);
    expect(refusal(await create())).toBe("409 conflict");
  });

  test("AUTH-026: admins see the secret and rotate it; analysts read the rest; others nothing", async () => {
    const { keys } = world.tenant;
    const hook = record(await create());
    const path = `/webhooks/${hook.id}`;
    const { secret, ...visible } = hook;
    expect(record(await world.get(path, keys.analyst))).toEqual(visible);
    expect(list(await world.get("/webhooks", keys.analyst))).toEqual([visible]);
    expect((await world.get(`${path}/deliveries`, keys.analyst)).status).toBe(200);
    const rotated = record(await world.call("POST", `${path}/rotate-secret`));
    expect(rotated["secret"]).toMatch(/^whsec_[0-9a-f]{48}$/);
    expect(rotated["secret"]).not.toBe(secret);
    expect(record(await world.get(path))["secret"]).toBe(rotated["secret"]);
    const writes: [string, string, unknown?][] = [
      ["POST", "/webhooks", { name: "x", url: URL_OUTSIDE, events: ["offer.created"] }],
      ["PATCH", path, { name: "x" }],
      ["DELETE", path],
      ["POST", `${path}/rotate-secret`],
      ["POST", `${path}/test`, { event: "offer.created" }],
      ["POST", "/webhook-deliveries/00000000-0000-4000-8000-000000000000/retry"],
    ];
    for (const [method, at, body] of writes) {
      const by = async (key: string) =>
        refusal(await world.call(method, at, { key, ...(body === undefined ? {} : { body }) }));
      expect(await by(keys.analyst), at).toBe("403 read_only_key");
      expect(await by(keys.partner), at).toBe("403 forbidden");
      expect(await by(keys.advertiser), at).toBe("403 forbidden");
    }
    for (const at of ["/webhooks", path, `${path}/deliveries`]) {
      expect(refusal(await world.get(at, keys.partner)), at).toBe("403 forbidden");
      expect(refusal(await world.get(at, keys.advertiser)), at).toBe("403 forbidden");
    }
    expect(refusal(await world.get(path, foreign.keys.admin))).toBe("404 not_found");
    const rotateForeign = `${path}/rotate-secret`;
    expect(refusal(await world.call("POST", rotateForeign, { key: foreign.keys.admin }))).toBe(
      "404 not_found",
    );
  });

  test("AUTH-026: a narrowed admin key needs webhooks.manage, and then reads and writes", async () => {
    const key = async (permissions: string[]) =>
      String(record(await world.post("/keys", { name: "k", role: "admin", permissions }))["key"]);
    const hook = record(await create());
    const others = await key(["offers.read"]);
    expect(refusal(await world.get(`/webhooks/${hook.id}`, others))).toBe("403 forbidden");
    expect(refusal(await create({}, others))).toBe("403 forbidden");
    const managing = await key(["webhooks.manage"]);
    expect(record(await world.get(`/webhooks/${hook.id}`, managing))).toEqual(hook);
    expect((await create({}, managing)).status).toBe(201);
  });
});

describe("delivery log", () => {
  test("WH-015 WH-020 WH-022: the log pages newest first; a retry is a new delivery of the same bytes", async () => {
    const hook = await listen("log", ["offer.created"]);
    receiver.answer((response) => response.writeHead(410).end("gone"));
    for (let i = 0; i < 3; i += 1) await world.offer();
    const path = `/webhooks/${hook.id}/deliveries`;
    await until(
      "three deliveries have failed",
      async () => list(await world.get(`${path}?status=failed`)).length === 3,
      SOON,
    );
    const rows = list(await world.get(path));
    expect(rows[0]).toEqual({
      ...{ id: someText, webhook_id: hook.id, event: "offer.created", event_id: someText },
      ...{ url: hook["url" as keyof typeof hook], attempts: 1, status: "failed" },
      ...{ error: "HTTP 410 Gone", response_status: 410, response_body: "gone" },
      ...{ next_attempt_at: null, created_at: someText, finished_at: someText },
    });
    const first = await world.get(`${path}?limit=2`);
    const second = await world.get(`${path}?limit=2&cursor=${nextCursor(first)}`);
    expect([...list(first), ...list(second)]).toEqual(rows);
    expect(nextCursor(second)).toBeNull();

    receiver.answer((response) => void response.end());
    const again = record(await world.call("POST", `/webhook-deliveries/${rows[0]?.id}/retry`));
    expect(again).toMatchObject({
      status: "pending",
      event_id: rows[0]?.["event_id"],
      attempts: 0,
    });
    expect(again.id).not.toBe(rows[0]?.id);
    const requests = await arrived("log", 4);
    const retried = requests.at(-1);
    expect(retried?.headers["x-tracker-delivery"]).toBe(again.id);
    const original = requests.find(({ headers }) => headers["x-tracker-delivery"] === rows[0]?.id);
    expect(retried?.bytes).toEqual(original?.bytes);
    expect(JSON.parse(retried?.body ?? "")).toMatchObject({ id: again["event_id"] });
    // One that arrived may be asked for again too (consumers tell by the id), and while the webhook is off.
    await world.patch(`/webhooks/${hook.id}`, { active: false });
    await world.call("POST", `/webhook-deliveries/${again.id}/retry`);
    expect((await arrived("log", 5)).at(-1)?.bytes).toEqual(original?.bytes);
    const foreignRetry = await world.call("POST", `/webhook-deliveries/${again.id}/retry`, {
      key: foreign.keys.admin,
    });
    expect(refusal(foreignRetry)).toBe("404 not_found");
  });

  test("WH-013: a new secret signs the next delivery, and every later attempt of earlier ones", async () => {
    const hook = await listen("rotated", ["offer.created"]);
    receiver.answer((response) => response.writeHead(500, { "retry-after": "1" }).end());
    await world.offer();
    const [before] = await arrived("rotated", 1);
    const { secret } = record(await world.call("POST", `/webhooks/${hook.id}/rotate-secret`));
    receiver.answer((response) => void response.end());
    const [, after] = await arrived("rotated", 2);
    if (before === undefined || after === undefined) throw new Error("two have arrived");
    expect([isSignedWith(before, hook.secret), isSignedWith(before, String(secret))]).toEqual([
      true,
      false,
    ]);
    expect([isSignedWith(after, hook.secret), isSignedWith(after, String(secret))]).toEqual([
      false,
      true,
    ]);
    await world.offer();
    const [, , next] = await arrived("rotated", 3);
    expect(next !== undefined && isSignedWith(next, String(secret))).toBe(true);
  });

  test.each(WEBHOOK_EVENTS)(
    "WH-012: a test of %s is a signed document marked as one, whatever is subscribed to",
    async (event) => {
      const hook = await listen(`test-${event}`, ["affiliate.signup"], { active: false });
      const answer = await world.post(`/webhooks/${hook.id}/test`, { event });
      expect(answer.status).toBe(200);
      const [document] = await told(hook, 1);
      expect(document).toEqual({
        ...{ id: record(answer)["event_id"], event, workspace_id: world.tenant.workspaceId },
        ...{ created_at: someText, test: true, ...sampleOf(event) },
      });
    },
  );

  test("WH-012: only events that there are can be tested", async () => {
    const hook = record(await create());
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
  test("WH-006 WH-007 WH-008 WH-009 WH-011: POST, PATCH and bulk PATCH of conversions, one each, none for a refused one", async () => {
    const hook = await listen("conversions", ["conversion.created", "conversion.updated"]);
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
    const documents = await told(hook, 6);
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
    expect(list(await world.get(`/webhooks/${hook.id}/deliveries`))).toHaveLength(6);
  });

  test("WH-018 G128: an offer is told as REST shows it, its change with the fields that changed", async () => {
    const hook = await listen("offers", ["offer.created", "offer.updated"]);
    const offer = await world.offer({ payout: "3", events: [{ code: "vip", payout: "5" }] });
    const changed = record(await world.patch(`/offers/${offer.id}`, { payout: "4", tags: ["a"] }));
    await world.patch(`/offers/${offer.id}`, { payout: "4.0000" });
    const documents = await told(hook, 2);
    const created = documents.find(({ event }) => event === "offer.created");
    const updated = documents.find(({ event }) => event === "offer.updated");
    expect(created?.data).toEqual(offer);
    expect(created).not.toHaveProperty("previous");
    expect(updated?.data).toEqual(changed);
    expect(updated?.previous).toEqual({ payout: "3.0000", tags: [], events: offer["events"] });
    // A change that is refused is no change.
    expect((await world.patch(`/offers/${offer.id}`, { payout: "-1" })).status).toBe(400);
    expect((await world.post("/offers", { name: "x" })).status).toBe(400);
    expect(list(await world.get(`/webhooks/${hook.id}/deliveries`))).toHaveLength(2);
  });

  test("WH-018: an event of an offer that is made, changed or deleted changes the offer", async () => {
    const hook = await listen("events", ["offer.updated"]);
    const offer = await world.offer();
    const path = `/offers/${offer.id}/events`;
    await world.post(path, { code: "lead" });
    await world.patch(`${path}/lead`, { name: "Lead" });
    await world.patch(`${path}/lead`, { name: "Lead" });
    await world.call("DELETE", `${path}/lead`);
    const documents = await told(hook, 3);
    expect(documents.map(({ previous }) => Object.keys(previous ?? {}))).toEqual([
      ...[["events"], ["events"], ["events"]],
    ]);
    const names = documents.map(({ data }) => ShownOffer.parse(data)["events"]);
    expect(names).toContainEqual(offer["events"]);
    expect(list(await world.get(`/webhooks/${hook.id}/deliveries`))).toHaveLength(3);
  });

  test("WH-018 WH-019 G129: affiliate.updated has eight fields; creating one is not told", async () => {
    const hook = await listen("partners", ["affiliate.updated", "affiliate.signup"]);
    const made = record(
      await world.post("/affiliates", { name: "Acme", payment_details: { wire: "IBAN-SECRET" } }),
    );
    await world.patch(`/affiliates/${made.id}`, { status: "blocked", notes: "private words" });
    await world.patch(`/affiliates/${made.id}`, { status: "blocked" });
    const [document] = await told(hook, 1);
    expect(document?.data).toEqual({
      ...{ id: made.id, code: made["code"], name: "Acme", status: "blocked", email: "" },
      ...{ company: "", country: "", created_at: made["created_at"] },
    });
    expect(document?.previous).toEqual({ status: "active" });
    const [request] = await arrived("partners", 1);
    expect(request?.body).not.toMatch(/IBAN-SECRET|private words/);
    expect(list(await world.get(`/webhooks/${hook.id}/deliveries`))).toHaveLength(1);
  });

  test("WH-018 G129: access that is asked for and decided is told once each", async () => {
    const hook = await listen("access", ["access.requested", "access.decided"]);
    const offer = await world.offer({ visibility: "private" });
    const path = `/offers/${offer.id}/affiliates/${world.tenant.affiliateCode}`;
    const put = async (status: string, note = "") =>
      record(
        await world.call("PUT", path, { body: { status, note } }).then((answer) => ({
          ...answer,
          body: { data: { id: 0, ...(answer.body["data"] as Json) } },
        })),
      );
    const { id: _id, ...pending } = await put("pending", "please");
    await put("pending", "please");
    const { id: _same, ...approved } = await put("approved", "welcome");
    await put("approved", "welcome");
    const documents = await told(hook, 2);
    const about = { offer_id: offer.id, offer_code: offer["code"], offer_name: offer["name"] };
    expect(documents.find(({ event }) => event === "access.requested")?.data).toEqual({
      ...pending,
      ...about,
    });
    expect(documents.find(({ event }) => event === "access.decided")?.data).toEqual({
      ...approved,
      ...about,
    });
    expect(list(await world.get(`/webhooks/${hook.id}/deliveries`))).toHaveLength(2);
  });

  test("WH-019: no document holds a secret of the workspace or of an advertiser", async () => {
    const hook = await listen("all", WEBHOOK_EVENTS);
    const offer = await world.offer();
    await world.patch(`/advertisers/${world.tenant.advertiserId}`, { company: "Shop Ltd" });
    await world.patch(`/offers/${offer.id}`, { name: "Other" });
    await world.post("/conversions", {
      offer_id: offer.id,
      affiliate_id: world.tenant.affiliateId,
    });
    await world.patch(`/affiliates/${world.tenant.affiliateId}`, { company: "Partner Ltd" });
    const documents = await told(hook, 4);
    const { rows } = await world.db.query<{ secret: string }>({
      text: `select postback_token as secret from advertiser union all select postback_token from workspace
             union all select secret from webhook`,
    });
    const text = JSON.stringify(documents);
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.filter(({ secret }) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/postback_token|whsec_|payment_details/);
  });

  test("samples have every field that the real documents have", async () => {
    const offer = await world.offer();
    const keys = (data: object) => Object.keys(data).toSorted();
    for (const event of ["offer.created", "offer.updated"] as const)
      expect(keys(sampleOf(event).data)).toEqual(keys(offer));
    const hook = await listen("samples", [
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
    for (const { event, data } of await told(hook, 3)) {
      const sample = WEBHOOK_EVENTS.find((name) => name === event);
      expect(sample === undefined ? [] : keys(sampleOf(sample).data), event).toEqual(keys(data));
    }
  });
});

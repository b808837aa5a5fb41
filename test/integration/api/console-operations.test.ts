import { expect, test } from "vitest";
import { z } from "zod";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import { type Answer, details, list, nextCursor, record, refusal, textWith } from "./api-world.ts";
import { WebhookWorld } from "./webhook-world.ts";

const SOON = { timeoutMs: 90_000 };

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
const { foreign } = hooks;
const { keys, affiliateId, affiliateCode, workspaceId } = world.tenant;

const dataOf = ({ body }: Answer): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(body["data"]);
const partner = async (fields: Record<string, unknown> = {}) =>
  Number(record(await world.post("/affiliates", { name: "New", ...fields })).id);

const Bulk = z.object({
  updated: z.array(z.looseObject({ id: z.int(), status: z.string() })),
  not_found: z.array(z.int()),
});

test("partners are changed in bulk, each as by a change of its own, with one event (G129, T39, P30)", async () => {
  await hooks.reset();
  const hook = await hooks.listen("bulk", ["affiliate.updated"]);
  const manager = record(await world.post("/users", { name: "Mia" })).id;
  const [first, second, active] = [
    await partner({ status: "pending" }),
    await partner({ status: "pending" }),
    await partner({ status: "active", manager_id: manager, tags: ["a"] }),
  ];
  const body = {
    ids: [second, first, active, first, foreign.affiliateId, 999_999],
    status: "active",
    manager_id: manager,
    tags: ["a"],
  };
  const { updated, not_found } = Bulk.parse(dataOf(await world.patch("/affiliates", body)));
  expect(updated.map(({ id }) => id)).toEqual([first, second, active].toSorted((a, b) => a - b));
  expect(not_found).toEqual([foreign.affiliateId, 999_999].toSorted((a, b) => a - b));
  for (const id of [first, second]) {
    const one = record(await world.get(`/affiliates/${id}`));
    expect(one).toMatchObject({ status: "active", manager_id: manager, tags: ["a"] });
    expect(one["approved_at"]).not.toBe(null);
  }
  await world.patch("/affiliates", body);
  const told = await hooks.told(hook, 2);
  const ids = told.map(({ data }) => z.looseObject({ id: z.int() }).parse(data).id);
  expect(new Set(ids)).toEqual(new Set([first, second]));
  // The third had these values before, and the second request changed nothing.
  expect(await hooks.deliveries(hook)).toHaveLength(2);
  const theirs = await world.get(`/affiliates/${foreign.affiliateId}`, foreign.keys.admin);
  expect(record(theirs)["tags"]).toEqual([]);
});

test("a bulk change of partners names each wrong field, and is for admins", async () => {
  const ids = [await partner()];
  for (const [field, body] of [
    ["ids", { status: "active" }],
    ["ids", { ids: [], status: "active" }],
    ["ids", { ids: Array.from({ length: 201 }, (_, i) => i + 1), status: "active" }],
    ["ids[0]", { ids: ["x"], status: "active" }],
    ["status", { ids }],
    ["status", { ids, status: "new" }],
    ["manager_id", { ids, manager_id: 999_999 }],
    ["tags", { ids, tags: "a" }],
    ["name", { ids, status: "active", name: "x" }],
  ] as const) {
    const answer = await world.patch("/affiliates", body);
    expect(Object.keys(details(answer).fields), JSON.stringify(body).slice(0, 80)).toEqual([field]);
  }
  const body = { ids, status: "blocked" };
  expect(refusal(await world.patch("/affiliates", body, keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await world.patch("/affiliates", body, keys.partner))).toBe("403 forbidden");
});

test("two bulk changes at once of the same partners both succeed", async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, async () => await partner()));
  const answers = await Promise.all([
    world.patch("/affiliates", { ids, status: "blocked" }),
    world.patch("/affiliates", { ids: ids.toReversed(), tags: ["x"] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  for (const id of ids)
    expect(record(await world.get(`/affiliates/${id}`))).toMatchObject({
      status: "blocked",
      tags: ["x"],
    });
});

const Offers = z.array(
  z.looseObject({ offer_id: z.int(), can_run: z.boolean(), access_status: z.string().nullable() }),
);

test("the staff sees what a partner may run, as the partner sees it (G48, G199)", async () => {
  await world.post("/tracking-domains", { host: "go.example", is_default: true });
  const open = await world.offer();
  const approval = await world.offer({ visibility: "approval" });
  const hidden = await world.offer({ visibility: "private" });
  const refused = await world.offer({ visibility: "private" });
  await world.overridePayout(open.id, "cpa", "12");
  await world.call("PUT", `/offers/${refused.id}/affiliates/${affiliateCode}`, {
    body: { status: "rejected" },
  });
  const path = `/affiliates/${affiliateCode}/offers`;
  const rows = Offers.parse((await world.get(`${path}?limit=200`)).body["data"]);
  const byId = new Map(rows.map((row) => [row.offer_id, row]));
  expect(byId.get(open.id)).toMatchObject({
    can_run: true,
    access_status: null,
    terms_accepted: null,
    payout: "12.0000",
    tracking_link: textWith("go.example"),
  });
  expect(byId.get(approval.id)).toMatchObject({ can_run: false, tracking_link: null });
  expect(byId.has(hidden.id)).toBe(false);
  expect(byId.get(refused.id)).toMatchObject({ can_run: false, access_status: "rejected" });
  const seen = list(await world.get("/offers?limit=200&can_run=true", keys.partner));
  const runnable = Offers.parse((await world.get(`${path}?limit=200&can_run=true`)).body["data"]);
  expect(runnable.map(({ offer_id }) => offer_id)).toEqual(seen.map(({ id }) => id));
  const rejected = await world.get(`${path}?access_status=rejected`);
  expect(Offers.parse(rejected.body["data"]).map(({ offer_id }) => offer_id)).toEqual([refused.id]);
  const page = await world.get(`${path}?limit=1`);
  const other = await partner();
  const moved = `/affiliates/${other}/offers?limit=1&cursor=${String(nextCursor(page))}`;
  expect(refusal(await world.get(moved))).toBe("400 invalid_cursor");
  expect((await world.get(path, foreign.keys.admin)).status).toBe(404);
  expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
  expect(details(await world.get(`${path}?can_run=1`)).param).toBe("can_run");
});

test("an archived offer is gone from the API, its code is free, its conversions stay (G37)", async () => {
  const offer = await world.offer({ code: "ARCHIVE1" });
  const conversion = record(
    await world.post("/conversions", { offer_id: offer.id, affiliate_id: affiliateId }),
  );
  const path = `/offers/${offer.id}`;
  for (const [key, expected] of [
    [keys.analyst, "403 read_only_key"],
    [keys.partner, "403 forbidden"],
    [keys.advertiser, "403 forbidden"],
    [foreign.keys.admin, "404 not_found"],
  ] as const)
    expect(refusal(await world.call("DELETE", path, { key }))).toBe(expected);
  const answer = await world.call("DELETE", "/offers/ARCHIVE1");
  expect([answer.status, answer.body]).toEqual([200, { data: { id: offer.id, deleted: true } }]);
  for (const method of ["GET", "DELETE"]) expect((await world.call(method, path)).status).toBe(404);
  expect(list(await world.get(`/offers?ids=${offer.id}`))).toEqual([]);
  expect(record(await world.get(`/conversions/${conversion.id}`))["offer_name"]).toBe("Offer");
  expect((await world.offer({ code: "ARCHIVE1" })).id).not.toBe(offer.id);
  const late = await world.post("/conversions", { offer_id: offer.id, affiliate_id: affiliateId });
  expect(Object.keys(details(late).fields)).toEqual(["offer_id"]);
});

test("a report is judged with the parameters of /pb, and nothing is recorded (G121)", async () => {
  const offer = await world.offer();
  const validate = async (params: unknown, more = {}, key = keys.admin) =>
    await world.post("/conversions/validate", { params, ...more }, key);
  const good = { offer_id: String(offer.id), aff_id: affiliateCode, txid: "order-1" };
  const judged = await until(
    "the processor knows the offer",
    async () => {
      const answer = dataOf(await validate(good));
      return answer["http_status"] === 200 && answer;
    },
    SOON,
  );
  expect(judged).toMatchObject({
    result: "test",
    answer: { ok: true, conversion_id: null, status: "approved", test: true },
  });
  expect(list(await world.get(`/conversions?offer_id=${offer.id}`))).toEqual([]);
  const bad = dataOf(await validate({ click_id: "0".repeat(32) }));
  expect(bad).toMatchObject({ answer: { ok: false } });
  const other = record(await world.post("/advertisers", { name: "Other" }));
  const notTheirs = await until(
    "the processor knows the advertiser",
    async () => {
      const answer = dataOf(await validate(good, { advertiser_id: other.id }));
      return answer["result"] === "invalid_token" && answer;
    },
    SOON,
  );
  expect(notTheirs).toMatchObject({ answer: { ok: false } });
  expect((await validate(good, {}, keys.analyst)).status).toBe(200);
  expect(refusal(await validate(good, {}, keys.partner))).toBe("403 forbidden");
  for (const [field, body] of [
    ["params", {}],
    ["params", { params: "a=1" }],
    ["params", { params: { ...good, token: "x" } }],
    ["params.amount", { params: { amount: 5 } }],
    ["advertiser_id", { params: good, advertiser_id: foreign.advertiserId }],
    ["more", { params: good, more: 1 }],
  ] as const)
    expect(Object.keys(details(await world.post("/conversions/validate", body)).fields)).toEqual([
      field,
    ]);
});

const Counts = z.array(z.object({ ts: z.string(), result: z.string(), count: z.int() }));

test("inbound calls are counted by hour or day of the zone, and by result (G178)", async () => {
  await world.pool.query({
    text: `insert into postback_log (workspace_id, ts, endpoint, http_status, result)
           select $1, t::timestamptz, 'pb', 200, r from unnest($2::text[], $3::text[]) x (t, r)`,
    values: [
      workspaceId,
      ["2026-03-01T10:05Z", "2026-03-01T10:55Z", "2026-03-01T11:00Z", "2026-03-01T23:30Z"],
      ["approved", "approved", "unknown_click", "approved"],
    ],
  });
  const path = "/postback-log/summary?from=2026-03-01&to=2026-03-02";
  const counts = async (query: string, key?: string) =>
    Counts.parse((await world.get(`${path}${query}`, key)).body["data"]);
  expect(await counts("&interval=hour")).toEqual([
    { ts: "2026-03-01T10:00:00.000Z", result: "approved", count: 2 },
    { ts: "2026-03-01T11:00:00.000Z", result: "unknown_click", count: 1 },
    { ts: "2026-03-01T23:00:00.000Z", result: "approved", count: 1 },
  ]);
  expect(await counts("&interval=day&tz=Europe/Berlin")).toEqual([
    { ts: "2026-02-28T23:00:00.000Z", result: "approved", count: 2 },
    { ts: "2026-02-28T23:00:00.000Z", result: "unknown_click", count: 1 },
    { ts: "2026-03-01T23:00:00.000Z", result: "approved", count: 1 },
  ]);
  expect(await counts("&interval=day", foreign.keys.admin)).toEqual([]);
  for (const [param, query] of [
    ["interval", "&interval=week"],
    ["from", "&interval=hour&preset=last30"],
    ["tz", "&tz=Mars"],
  ] as const)
    expect((await world.get(`/postback-log/summary?from=2026-03-01${query}`)).status, param).toBe(
      400,
    );
  expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
});

/** An offer with a postback and conversions of the partner, whose deliveries have failed. */
async function failedDeliveries(count: number) {
  const offer = await world.offer();
  const url = `http://127.0.0.1:${hooks.receiver.port}/postback-${offer.id}`;
  const body = { offer_id: offer.id, affiliate_id: affiliateId, url };
  const postback = record(await world.post("/postbacks", body));
  await world.pool.query({ text: "insert into delivery_hold (reason) values ('of the test')" });
  const conversions: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const made = await world.post("/conversions", {
      offer_id: offer.id,
      affiliate_id: affiliateId,
    });
    conversions.push(String(record(made).id));
  }
  await world.pool.query({
    text: `update delivery set status = 'failed', due_at = null, lease_token = null, attempts = 9, finished_at = now()
           where kind = 'postback' and endpoint_id = $1`,
    values: [postback.id],
  });
  return { id: Number(postback.id), conversions, path: `/postbacks/${postback.id}/deliveries` };
}

const Retried = z.object({ restarted: z.array(z.string()), has_more: z.boolean() });
const retried = (answer: Answer) => Retried.parse(dataOf(answer));

test("failed deliveries of a postback are sent again together, each once (G179)", async () => {
  const { id, path, conversions } = await failedDeliveries(3);
  const retry = `${path}/retry`;
  const later = { from: new Date(Date.now() + 60_000).toISOString() };
  expect(retried(await world.post(retry, later))).toEqual({ restarted: [], has_more: false });
  expect(retried(await world.post(retry, { status: "retrying" })).restarted).toEqual([]);
  const both = await Promise.all([world.post(retry, {}), world.post(retry, { status: "failed" })]);
  expect(both.flatMap((answer) => retried(answer).restarted).length).toBe(3);
  const rows = list(await world.get(path));
  expect(rows).toHaveLength(3);
  for (const row of rows)
    expect(row).toMatchObject({ status: "pending", attempts: 0, error: "", finished_at: null });
  expect(rows.map((row) => String(row["conversion_id"])).sort()).toEqual(conversions.toSorted());
  expect((await world.post(retry, {}, foreign.keys.admin)).status).toBe(404);
  expect((await world.post(retry, {}, foreign.keys.partner)).status).toBe(404);
  expect(refusal(await world.post(retry, {}, keys.analyst))).toBe("403 read_only_key");
  expect(retried(await world.post(retry, {}, keys.partner)).restarted).toEqual([]);
  for (const [field, body] of [
    ["status", { status: "delivered" }],
    ["from", { from: "today" }],
    ["to", { to: 1 }],
    ["ids", { ids: [] }],
  ] as const)
    expect(Object.keys(details(await world.post(retry, body)).fields)).toEqual([field]);
  await world.patch(`/postbacks/${id}`, { status: "paused" });
  expect(refusal(await world.post(retry, {}))).toBe("409 conflict");
  await world.pool.query({ text: "delete from delivery_hold" });
});

test("documents of a webhook are sent again together (G130)", async () => {
  await hooks.reset();
  const hook = await hooks.listen("again", ["offer.created"]);
  await world.offer();
  await hooks.told(hook, 1);
  await hooks.untilDeliveries(hook, "delivered", 1);
  await world.pool.query({
    text: "update delivery set status = 'failed' where kind = 'webhook' and endpoint_id = $1",
    values: [hook.id],
  });
  const path = `/webhooks/${hook.id}/deliveries/retry`;
  expect(refusal(await world.post(path, {}, keys.partner))).toBe("403 forbidden");
  expect((await world.post(path, {}, foreign.keys.admin)).status).toBe(404);
  expect(retried(await world.post(path, {})).restarted).toHaveLength(1);
  const [first, second] = await hooks.told(hook, 2);
  expect(second).toEqual(first);
  await hooks.untilDeliveries(hook, "delivered", 1);
});

test("deliveries of a conversion are listed, those of webhooks for keys that may read them (P30)", async () => {
  await hooks.reset();
  const hook = await hooks.listen("told", ["conversion.created"]);
  const { conversions, id } = await failedDeliveries(1);
  await world.pool.query({ text: "delete from delivery_hold" });
  const [conversion = ""] = conversions;
  await hooks.told(hook, 1);
  const path = `/conversions/${conversion}/deliveries`;
  const rows = list(await world.get(path));
  const told = new Map(rows.map((row) => [row["kind"], row["endpoint_id"]]));
  expect(rows).toHaveLength(2);
  expect([told.get("postback"), told.get("webhook")]).toEqual([id, hook.id]);
  expect(list(await world.get(`${path}?kind=postback`))).toMatchObject([{ trigger: "approved" }]);
  expect(list(await world.get(`${path}?status=failed`))).toMatchObject([{ kind: "postback" }]);
  const narrowed = record(
    await world.post("/keys", {
      role: "admin",
      permissions: ["postbacks.read", "conversions.read"],
    }),
  );
  expect(list(await world.get(path, String(narrowed["key"])))).toMatchObject([
    { kind: "postback" },
  ]);
  expect((await world.get(path, foreign.keys.admin)).status).toBe(404);
  expect(refusal(await world.get(path, keys.partner))).toBe("403 forbidden");
  expect(details(await world.get(`${path}?kind=mail`)).param).toBe("kind");
});

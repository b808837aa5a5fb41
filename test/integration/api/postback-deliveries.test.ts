import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, type Json, list, nextCursor, record, refusal } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const foreign = await world.addTenant("foreign");

/** A postback of the first partner with one delivery, which a conversion queued. */
async function deliver(fields: Json = {}, key?: string) {
  const { affiliateId } = world.tenant;
  const offer = await world.offer({ events: [{ code: "vip", is_private: true }] });
  const url = "https://partner.example/?c={click_id}";
  const body = { offer_id: offer.id, url, affiliate_id: affiliateId, ...fields };
  const postback = record(await world.post("/postbacks", body, key));
  const convert = async () =>
    record(await world.post("/conversions", { offer_id: offer.id, affiliate_id: affiliateId }));
  const conversion = await convert();
  const path = `/postbacks/${postback.id}/deliveries`;
  const [delivery = { id: "" }] = list(await world.get(path));
  return { postback, conversion, path, convert, id: String(delivery.id), delivery };
}

/** Leases a delivery as a delivery worker does; returns the token. */
async function lease(id: string, leaseMs: number): Promise<string> {
  const token = randomUUID();
  await world.pool.query({
    text: `update delivery set lease_token = $2, attempts = attempts + 1,
             due_at = clock_timestamp() + $3::integer * interval '1 millisecond' where id = $1`,
    values: [id, token, leaseMs],
  });
  return token;
}

/** Records the result of an attempt, as a delivery worker does. */
async function settle(id: string, token: string, result: Json): Promise<unknown> {
  const settled = {
    url: "https://partner.example/?c=",
    error: "",
    response_status: 200,
    response_body: "",
    retry_in_ms: null,
    is_sent: true,
    is_endpoints_fault: true,
    ...result,
  };
  const { rows } = await world.pool.query<{ settled: string }>({
    text: "select settle_delivery($1, $2, $3::jsonb) as settled",
    values: [id, token, JSON.stringify(settled)],
  });
  return rows[0]?.settled;
}

const someText: unknown = expect.any(String);
const SENT_TO = "https://partner.example/?c=";
const FAILED = { status: "failed", error: "HTTP 500 Down", response_status: 500 };
const RETRYING = { ...FAILED, status: "retrying", retry_in_ms: 3_600_000 };

async function retry(id: string, key?: string) {
  return await world.call(
    "POST",
    `/postback-deliveries/${id}/retry`,
    key === undefined ? {} : { key },
  );
}

test("a waiting delivery shows its cause and its next attempt, none during an attempt (G179)", async () => {
  const { postback, conversion, delivery, id, path } = await deliver();
  expect(delivery).toEqual({
    id,
    postback_id: postback.id,
    conversion_id: conversion.id,
    trigger: "approved",
    url: "",
    attempts: 0,
    total_attempts: 0,
    status: "pending",
    error: "",
    response_status: null,
    response_body: "",
    next_attempt_at: delivery["created_at"],
    created_at: delivery["created_at"],
    finished_at: null,
  });
  await lease(id, 60_000);
  const [sending] = list(await world.get(path));
  expect(sending).toMatchObject({ status: "pending", attempts: 1, next_attempt_at: null });
});

test("a failed delivery shows address, answer and error, also to its partner (PBO-024)", async () => {
  const { id, path } = await deliver();
  await settle(id, await lease(id, 60_000), { ...FAILED, response_body: "down" });
  for (const key of [world.tenant.keys.analyst, world.tenant.keys.partner]) {
    const [row] = list(await world.get(path, key));
    expect(row).toMatchObject({
      url: "https://partner.example/?c=",
      attempts: 1,
      status: "failed",
      error: "HTTP 500 Down",
      response_status: 500,
      response_body: "down",
      next_attempt_at: null,
    });
    expect(row?.["finished_at"]).not.toBeNull();
  }
});

test("deliveries are paged, newest first, by status; a cursor is for its postback only (LIM-007)", async () => {
  const { path, id, convert } = await deliver();
  const another = await deliver();
  for (let index = 0; index < 4; index += 1) await convert();
  await settle(id, await lease(id, 60_000), { status: "delivered" });
  const seen: Json[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${cursor}`;
    const page = await world.get(`${path}?limit=2${after}`);
    seen.push(...list(page));
    cursor = nextCursor(page);
  } while (cursor !== null && seen.length < 100);
  expect(new Set(seen.map((row) => row["id"])).size).toBe(5);
  const ours = nextCursor(await world.get(`${path}?limit=2`)) ?? "";
  const elsewhere = await world.get(`${another.path}?limit=2&cursor=${ours}`);
  expect(refusal(elsewhere)).toBe("400 invalid_cursor");
  expect(seen.at(-1)?.["id"]).toBe(id);
  expect(list(await world.get(`${path}?status=delivered`)).map((row) => row.id)).toEqual([id]);
  expect(list(await world.get(`${path}?status=pending`))).toHaveLength(4);
  expect(details(await world.get(`${path}?status=lost`)).param).toBe("status");
});

test.each([
  ["failed", FAILED],
  ["waits for its next attempt", RETRYING],
])(
  "a delivery that %s is due at once after a retry, with all its attempts left",
  async (_name, result) => {
    const { keys } = world.tenant;
    for (const key of [keys.admin, keys.partner]) {
      const { id, path } = await deliver();
      await settle(id, await lease(id, 60_000), result);
      const restarted = await retry(id, key);
      expect(restarted.status).toBe(200);
      const row = record(restarted);
      expect(row).toMatchObject({
        id,
        status: "pending",
        attempts: 0,
        error: "",
        finished_at: null,
      });
      expect(Date.parse(String(row["next_attempt_at"]))).toBeLessThanOrEqual(Date.now() + 1_000);
      expect(list(await world.get(path))[0]).toEqual(row);
      expect(await settle(id, await lease(id, 60_000), { status: "delivered" })).toBe("settled");
    }
  },
);

test("a delivery shows what each attempt sent and was answered, also after a retry by hand (#39)", async () => {
  const { keys } = world.tenant;
  const { id, path } = await deliver();
  const one = async (key?: string) => record(await world.get(`/postback-deliveries/${id}`, key));
  expect((await one())["history"]).toEqual([]);
  const sent = { method: "POST", body: "c=1", duration_ms: 20, response_body: "down" };
  await settle(id, await lease(id, 60_000), { ...FAILED, ...sent });
  await retry(id);
  await settle(id, await lease(id, 60_000), { status: "delivered", method: "GET" });
  for (const key of [keys.admin, keys.analyst, keys.partner]) {
    const shown = await one(key);
    expect(shown).toMatchObject({ id, status: "delivered", attempts: 1, total_attempts: 2 });
    expect(shown["history"]).toEqual([
      { number: 1, sent_at: someText, url: SENT_TO, ...FAILED, ...sent },
      {
        number: 2,
        sent_at: someText,
        duration_ms: 0,
        status: "delivered",
        method: "GET",
        url: SENT_TO,
        body: "",
        error: "",
        response_status: 200,
        response_body: "",
      },
    ]);
  }
  expect(list(await world.get(path))[0]).not.toHaveProperty("history");
});

test("the attempts of a delivery are for those who see the delivery (PBO-015, VIS-052)", async () => {
  const { keys } = world.tenant;
  const { id } = await deliver();
  const path = `/postback-deliveries/${id}`;
  expect(refusal(await world.get(path, keys.advertiser))).toBe("403 forbidden");
  const forAll = await deliver({ affiliate_id: null });
  for (const [of, key] of [
    [path, foreign.keys.admin],
    [path, foreign.keys.partner],
    [`/postback-deliveries/${forAll.id}`, keys.partner],
    [`/postback-deliveries/${randomUUID()}`, keys.admin],
    [`/webhook-deliveries/${id}`, keys.admin],
  ] as const)
    expect(refusal(await world.get(of, key))).toBe("404 not_found");
});

test("a delivered delivery is not sent again", async () => {
  const { id, path } = await deliver();
  await settle(id, await lease(id, 60_000), { status: "delivered" });
  const answer = await retry(id);
  expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "status"]);
  expect(list(await world.get(path))[0]).toMatchObject({ status: "delivered", attempts: 1 });
});

test("a retry waits for a running attempt, but not for a dead worker", async () => {
  const { id } = await deliver();
  const token = await lease(id, 60_000);
  expect(refusal(await retry(id))).toBe("409 conflict");
  expect(await settle(id, token, RETRYING)).toBe("settled");
  const lost = await lease(id, -1);
  expect((await retry(id)).status).toBe(200);
  expect(await settle(id, lost, { status: "delivered" })).toBe("stale");
});

test("only admins and the partner itself may retry (PBO-014, PBO-015, VIS-052)", async () => {
  const { keys } = world.tenant;
  const { id } = await deliver();
  expect(refusal(await retry(id, keys.analyst))).toBe("403 read_only_key");
  expect(refusal(await retry(id, keys.advertiser))).toBe("403 forbidden");
  const forAll = await deliver({ affiliate_id: null });
  for (const [delivery, key] of [
    [id, foreign.keys.admin],
    [id, foreign.keys.partner],
    [forAll.id, keys.partner],
    [randomUUID(), keys.admin],
    ["1", keys.admin],
  ] as const)
    expect(refusal(await retry(delivery, key))).toBe("404 not_found");
  expect(refusal(await world.get(forAll.path, keys.partner))).toBe("404 not_found");
  await world.call("DELETE", `/postbacks/${forAll.postback.id}`);
  expect(refusal(await retry(forAll.id))).toBe("404 not_found");
});

test("deliveries of an event that became private are 404 for the partner (T12)", async () => {
  const { id, path } = await deliver({ event_code: "default" });
  expect((await world.get(path, world.tenant.keys.partner)).status).toBe(200);
  await world.pool.query({
    text: `update offer_event e set is_private = true from delivery d join postback p on p.id = d.endpoint_id
           where d.id = $1 and e.offer_id = p.offer_id and e.code = p.event_code`,
    values: [id],
  });
  expect((await world.get(path, world.tenant.keys.partner)).status).toBe(404);
  expect((await retry(id, world.tenant.keys.partner)).status).toBe(404);
  expect((await retry(id)).status).toBe(200);
});

const SENT = {
  status: "failed",
  error: "HTTP 500 order-77",
  response_status: 500,
  url: "https://partner.example/?t=order-77",
  response_body: "got order-77",
};
const FAILED_IN_ROW = "25 deliveries in a row failed, the last one with: ";

test.each([
  ["url", { url: "https://partner.example/?t={txid}" }],
  ["body", { method: "POST", body: '{"address":"{ip}"}' }],
  ["free value in the url", { url: "https://partner.example/?t={adv1}" }],
])(
  "values of a staff macro in the %s are shown to staff, not to the partner (#15, G125)",
  async (_, fields) => {
    const { id, path } = await deliver(fields);
    const { keys } = world.tenant;
    await settle(id, await lease(id, 60_000), { ...SENT, method: "POST", body: "order-77" });
    const seen = await world.get(path, keys.partner);
    expect(list(seen)).toMatchObject([
      { id, status: "failed", error: "HTTP 500", response_status: 500, url: "", response_body: "" },
    ]);
    expect(list(await world.get(path))).toMatchObject([SENT]);
    const attempts = await world.get(`/postback-deliveries/${id}`, keys.partner);
    expect([attempts.status, attempts.text.includes("order-77")]).toEqual([200, false]);
    expect(record(await world.get(`/postback-deliveries/${id}`))["history"]).toMatchObject([SENT]);
    const again = await retry(id, keys.partner);
    expect([again.status, again.text.includes("order-77")]).toEqual([200, false]);
  },
);

test("a change of the postback does not reveal earlier values (#15, G125)", async () => {
  const { id, path, postback } = await deliver({ url: "https://partner.example/?t={txid}" });
  await settle(id, await lease(id, 60_000), SENT);
  await world.patch(`/postbacks/${postback.id}`, { url: "https://partner.example/" });
  expect((await world.get(path, world.tenant.keys.partner)).text).not.toContain("order-77");
});

test.each([
  ["its own postback", () => world.tenant.keys.partner, FAILED_IN_ROW + SENT.error],
  ["one that staff made for it", () => world.tenant.keys.admin, `${FAILED_IN_ROW}HTTP 500`],
])("of a disabled %s a partner sees the reason (#15, G125, G126)", async (_, maker, reason) => {
  const { id, path, postback } = await deliver({}, maker());
  await world.pool.query({
    text: "update postback set failed_in_row = 24 where id = $1",
    values: [postback.id],
  });
  await settle(id, await lease(id, 60_000), SENT);
  const shown = async (key: string) =>
    record(await world.get(path.replace("/deliveries", ""), key))["disabled_reason"];
  expect(await shown(world.tenant.keys.partner)).toBe(reason);
  expect(await shown(world.tenant.keys.admin)).toBe(FAILED_IN_ROW + SENT.error);
});

test("a postback that was another partner's shows its partner only its own conversions (#15, P30)", async () => {
  const rival = Number(
    record(await world.post("/affiliates", { name: "Rival", code: "RIVAL15" })).id,
  );
  const { affiliateId, keys } = world.tenant;
  const { id, path, postback, convert } = await deliver({ affiliate_id: null });
  await world.pool.query({ text: "update conversion set affiliate_id = $1", values: [rival] });
  const own = await convert();
  await world.patch(`/postbacks/${postback.id}`, { affiliate_id: affiliateId });
  const seen = list(await world.get(path, keys.partner));
  expect(seen.map(({ conversion_id: conversion }) => conversion)).toEqual([own.id]);
  expect((await retry(id, keys.partner)).status).toBe(404);
  await world.pool.query({
    text: "update conversion set is_private = true where id = $1",
    values: [own.id],
  });
  expect(list(await world.get(path, keys.partner))).toEqual([]);
  expect(list(await world.get(path))).toHaveLength(2);
});

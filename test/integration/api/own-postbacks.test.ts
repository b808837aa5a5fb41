import { expect, test } from "vitest";
import { z } from "zod";
import type { Role } from "../../../api/operation/permissions.ts";
import { PostbackReply, type PostbackRequest } from "../../../schemas/events/postback-request.ts";
import { ask } from "../../../schemas/nats/ask.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { until } from "../../system/until.ts";
import {
  ApiWorld,
  containing,
  details,
  list,
  record,
  refusal,
  someId,
  someText,
  type Tenant,
  textWith,
} from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
await world.startProcessor();
const { tenant } = world;
const neighbour = await world.addTenant("neighbour");
/** A second advertiser of the same workspace. */
const rival = await world.insert("advertiser", {
  workspace_id: tenant.workspaceId,
  name: "Rival",
  currency: "USD",
  postback_token: "token-of-rival",
});
const shop = await world.offer({ code: "SHOP", events: [{ code: "sale" }] });
await world.offer({ code: "RIVAL", advertiser_id: rival });
const OWN = tenant.keys.advertiser;
const PATHS = [
  ["GET", "/me/postback-token"],
  ["POST", "/me/postback-token/rotate"],
  ["GET", "/me/postback-log"],
  ["GET", "/me/events"],
  ["POST", "/me/test-postback"],
] as const;
const BODIES: Readonly<Record<string, object>> = {
  "/me/postback-token/rotate": {},
  "/me/test-postback": { params: {} },
};

const Token = z.object({ data: z.looseObject({ postback_token: z.string() }) });

async function tokenOf(key = OWN): Promise<string> {
  return Token.parse((await world.get("/me/postback-token", key)).body).data.postback_token;
}

/** Sends a report as ingress does. */
async function report(
  params: Record<string, string>,
  options: Partial<PostbackRequest> = {},
): Promise<PostbackReply> {
  const request: PostbackRequest = {
    endpoint: "pb",
    params,
    cookieClickId: "",
    host: "",
    ip: "203.0.113.9",
    userAgent: "",
    receivedAtMs: Date.now(),
    requestId: "a-request",
    ...options,
  };
  const reply = await ask(world.nats, {
    subject: ({ postback }) => postback,
    body: request,
    timeoutMs: 90_000,
    answer: PostbackReply,
  });
  if (reply === undefined) throw new Error("no conversion processor answered");
  return reply;
}

const named = { offer_id: "SHOP", aff_id: tenant.affiliateCode };

/** Own rows of the log that a query selects, as soon as there are `count` of them. */
async function logged(query: string, count = 1): Promise<readonly Record<string, unknown>[]> {
  const read = async (): Promise<readonly Record<string, unknown>[] | undefined> => {
    const rows = list(await world.get(`/me/postback-log?${query}`, OWN));
    return rows.length >= count ? rows : undefined;
  };
  return await until(`${count} own rows with ${query}`, read);
}

test.each(PATHS)("%s %s is for advertiser keys only (P30)", async (method, path) => {
  for (const role of ["admin", "analyst", "partner"] as const satisfies readonly Role[]) {
    const answer = await world.call(method, path, { key: tenant.keys[role], body: BODIES[path] });
    const isWriteOfAnalyst = role === "analyst" && path.endsWith("/rotate");
    expect(refusal(answer)).toBe(isWriteOfAnalyst ? "403 read_only_key" : "403 forbidden");
  }
  expect(refusal(await world.call(method, path, { key: undefined, body: BODIES[path] }))).toBe(
    "401 missing_api_key",
  );
});

test("an advertiser sees its own token, which postbacks take", async () => {
  const answer = await world.get("/me/postback-token", OWN);
  const stored = record(await world.get(`/advertisers/${tenant.advertiserId}`));
  expect(answer.body["data"]).toEqual({
    postback_token: stored["postback_token"],
    may_rotate: true,
    old_tokens: [],
    tracking_url: null,
  });
  expect(await tokenOf(neighbour.keys.advertiser)).not.toBe(stored["postback_token"]);
  expect((await report({ ...named, token: await tokenOf() })).body).toMatchObject({ ok: true });
});

test("an advertiser learns to which tracking domain it reports: the default one of the workspace", async () => {
  await world.post("/tracking-domains", { host: "first.example" });
  await world.post("/tracking-domains", { host: "go.example", is_default: true });
  const answer = await world.get("/me/postback-token", OWN);
  expect(answer.body["data"]).toMatchObject({ tracking_url: "https://go.example" });
});

test("a rotated token is good at once, and the old one until its grace is over", async () => {
  const old = await tokenOf();
  const rotated = await world.post("/me/postback-token/rotate", {}, OWN);
  expect(rotated.status).toBe(200);
  const { postback_token: token, old_tokens } = z
    .object({
      data: z.looseObject({ postback_token: z.string(), old_tokens: z.array(z.unknown()) }),
    })
    .parse(rotated.body).data;
  expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(token).not.toBe(old);
  expect(old_tokens).toEqual([{ ends_with: old.slice(-4), good_until: someText }]);
  const endMs = Date.parse(
    z.array(z.looseObject({ good_until: z.string() })).parse(old_tokens)[0]?.good_until ?? "",
  );
  expect(Math.abs(endMs - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
  for (const good of [old, token])
    expect((await report({ ...named, token: good })).body).toMatchObject({ ok: true });
  const atItsEnd = { receivedAtMs: endMs };
  expect((await report({ ...named, token: old }, atItsEnd)).result).toBe("invalid_token");
  expect((await report({ ...named, token: old }, { receivedAtMs: endMs - 1 })).body.ok).toBe(true);
  // Rotated twice: the first token keeps its time.
  await world.post("/me/postback-token/rotate", { grace_hours: 1 }, OWN);
  for (const good of [old, token, await tokenOf()])
    expect((await report({ ...named, token: good })).body).toMatchObject({ ok: true });
});

test("grace_hours 0 ends the old token and all earlier ones", async () => {
  const first = await tokenOf();
  await world.post("/me/postback-token/rotate", { grace_hours: 72 }, OWN);
  const second = await tokenOf();
  const last = await world.post("/me/postback-token/rotate", { grace_hours: 0 }, OWN);
  expect(last.body["data"]).toMatchObject({ old_tokens: [] });
  for (const ended of [first, second]) {
    const isRefused = async (): Promise<boolean> =>
      (await report({ ...named, token: ended })).result === "invalid_token";
    await until("the token has ended", isRefused);
  }
  expect((await report({ ...named, token: await tokenOf() })).body).toMatchObject({ ok: true });
});

test("an admin's rotation ends the tokens that an advertiser replaced itself", async () => {
  const old = await tokenOf();
  await world.post("/me/postback-token/rotate", { grace_hours: 72 }, OWN);
  await world.post(`/advertisers/${tenant.advertiserId}/rotate-postback-token`, undefined);
  const isRefused = async (): Promise<boolean> =>
    (await report({ ...named, token: old })).result === "invalid_token";
  await until("the token has ended", isRefused);
  expect((await report({ ...named, token: await tokenOf() })).body).toMatchObject({ ok: true });
});

test("rotations are bounded, audited, and refused where the workspace forbids them", async () => {
  for (const grace_hours of [-1, 73, 1.5, "24"]) {
    const answer = await world.post("/me/postback-token/rotate", { grace_hours }, OWN);
    expect(Object.keys(details(answer).fields)).toEqual(["grace_hours"]);
  }
  const statuses: number[] = [];
  for (let i = 0; i < 11; i += 1)
    statuses.push((await world.post("/me/postback-token/rotate", {}, OWN)).status);
  expect(statuses).toEqual([...Array<number>(10).fill(200), 409]);
  const audited = list(await world.get("/audit-log?action=/me/postback-token/rotate"));
  expect(audited.length).toBeGreaterThanOrEqual(11);
  expect((await world.patch("/workspace", { advertiser_may_rotate: false })).status).toBe(200);
  const forbidden = await world.post("/me/postback-token/rotate", { grace_hours: 0 }, OWN);
  expect(refusal(forbidden)).toBe("403 forbidden");
  expect((await world.get("/me/postback-token", OWN)).body["data"]).toMatchObject({
    may_rotate: false,
  });
  await world.patch("/workspace", { advertiser_may_rotate: true });
  expect((await world.post("/me/postback-token/rotate", { grace_hours: 0 }, OWN)).status).toBe(200);
});

test("rotations at once leave one token, and every earlier one keeps its grace", async () => {
  const before = await tokenOf();
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => world.post("/me/postback-token/rotate", {}, OWN)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(5).fill(200));
  const { old_tokens } = z
    .object({ data: z.looseObject({ old_tokens: z.array(z.unknown()) }) })
    .parse((await world.get("/me/postback-token", OWN)).body).data;
  expect(old_tokens).toHaveLength(5);
  expect((await report({ ...named, token: before })).body).toMatchObject({ ok: true });
});

test("the own log has calls with the own token and about own offers, and no others (P30)", async () => {
  const token = await tokenOf();
  const { postback_token } = z
    .looseObject({ postback_token: z.string() })
    .parse(record(await world.get("/workspace")));
  const mark = (txid: string) => ({
    ...named,
    txid,
    sub1: "secret-sub",
    payout: "99.5",
    ip: "198.51.100.7",
  });
  await report({ ...mark("own-1"), token, misspelt: "value" });
  await report({ ...mark("network-1"), token: postback_token });
  await report({ offer: "SHOP", txid: "pixel-1" }, { endpoint: "px" });
  await report({ ...mark("of-rival"), offer_id: "RIVAL", token: "token-of-rival" });
  await report({ ...mark("rivals-try"), token: "token-of-rival" });
  await report({ click_id: "0".repeat(32), txid: "lost-1", token });
  expect(await logged("preset=today&result=unknown_click")).toHaveLength(1);
  const rows = await logged("preset=today");
  const byTxid = new Map(
    rows.map((row) => [
      z.looseObject({ txid: z.string().optional() }).parse(row["params"]).txid,
      row,
    ]),
  );
  expect(byTxid.has("of-rival") || byTxid.has("rivals-try")).toBe(false);
  const own = byTxid.get("own-1");
  expect(own).toMatchObject({
    endpoint: "pb",
    ip: "203.0.113.9",
    token_owner: `advertiser ${tenant.advertiserId}`,
    result: "approved",
    request_id: "a-request",
    params: { token: "***", txid: "own-1", offer_id: "SHOP", ip: "***", misspelt: "***" },
  });
  const text = JSON.stringify(rows);
  for (const hidden of ["secret-sub", tenant.affiliateCode, "99.5", "198.51.100.7", token])
    expect(text).not.toContain(hidden);
  expect(byTxid.get("network-1")).toMatchObject({ ip: null, token_owner: "workspace" });
  expect(byTxid.get("pixel-1")).toMatchObject({
    endpoint: "px",
    ip: null,
    result: "error",
    message: textWith("only over https"),
  });
  expect(byTxid.get("lost-1")).toMatchObject({ result: "unknown_click" });
  const other = await world.get("/me/postback-log", neighbour.keys.advertiser);
  expect(list(other)).toEqual([]);
});

test("events count what was received, by result, and calls without an event apart (P30)", async () => {
  const Counted = z.object({
    data: z.array(
      z.looseObject({ event_code: z.string(), last_24h: z.looseObject({ received: z.int() }) }),
    ),
    unassigned: z.looseObject({
      last_7d: z.looseObject({ errors: z.record(z.string(), z.int()) }),
    }),
  });
  const read = async () => Counted.parse((await world.get("/me/events", OWN)).body);
  const saleOf = ({ data }: z.infer<typeof Counted>) =>
    data.find(({ event_code }) => event_code === "sale");
  expect(saleOf(await read())).toEqual({
    event_id: someId,
    event_code: "sale",
    event_name: "sale",
    offer_id: shop.id,
    offer_code: "SHOP",
    offer_name: "Offer",
    last_at: null,
    last_24h: { received: 0, approved: 0, pending: 0, rejected: 0, errors: {} },
    last_7d: { received: 0, approved: 0, pending: 0, rejected: 0, errors: {} },
  });
  const Page = z.object({
    data: z.array(z.looseObject({ event_code: z.string() })),
    next_cursor: z.string().nullable(),
  });
  const first = Page.parse((await world.get("/me/events?limit=1", OWN)).body);
  const second = Page.parse(
    (await world.get(`/me/events?limit=1&cursor=${first.next_cursor ?? ""}`, OWN)).body,
  );
  expect([...first.data, ...second.data].map(({ event_code }) => event_code)).toEqual([
    "sale",
    "default",
  ]);
  expect(second.next_cursor).toBeNull();
  const token = await tokenOf();
  const sale = { ...named, event: "sale", token };
  await report({ ...sale, txid: "sale-1" });
  await report({ ...sale, txid: "sale-2", status: "pending" });
  await report({ ...sale, txid: "sale-1" });
  await report({ ...sale, txid: "sale-3", aff_id: "NOBODY" });
  await report({ ...sale, txid: "sale-4", test: "1" });
  const counted = await until("all five are counted", async () => {
    const body = await read();
    return saleOf(body)?.last_24h.received === 5 ? body : undefined;
  });
  expect(saleOf(counted)).toMatchObject({
    last_at: someText,
    last_24h: { received: 5, approved: 1, pending: 1, rejected: 0, errors: { error: 1 } },
    last_7d: { received: 5, approved: 1, pending: 1, rejected: 0, errors: { error: 1 } },
  });
  expect(counted.unassigned.last_7d.errors).toMatchObject({ unknown_click: 1 });
  expect(counted.data.map(({ event_code }) => event_code).toSorted()).toEqual(["default", "sale"]);
});

test("a tested postback is judged as /pb would, with the step that fails, and nothing is stored", async () => {
  const count = async (): Promise<unknown> =>
    (await world.pool.query({ text: "select count(*) as n from conversion" })).rows[0];
  const before = await count();
  const tested = async (params: Record<string, string>) =>
    (await world.post("/me/test-postback", { params }, OWN)).body["data"];
  const steps = (name: string, message: string): unknown =>
    containing([{ name, outcome: "failed", message }]);
  expect(await tested({ ...named, txid: "t-1", token: "any", test: "0" })).toMatchObject({
    http_status: 200,
    answer: { ok: true, test: true, status: "approved", conversion_id: null },
    steps: containing([{ name: "decision", outcome: "passed", message: "approved" }]),
  });
  expect(await tested({ click_id: "0".repeat(32) })).toMatchObject({
    answer: { ok: false, error: "unknown click_id" },
    steps: steps("click", "unknown click_id"),
  });
  expect(await tested({ ...named, event: "zz" })).toMatchObject({
    http_status: 400,
    steps: steps("event", "unknown event for this offer"),
  });
  expect(await tested({ ...named, offer_id: "RIVAL" })).toMatchObject({
    http_status: 401,
    steps: steps("offer", "token not valid for this offer"),
  });
  expect(await tested({ ...named, aff_id: "NOBODY" })).toMatchObject({
    steps: steps("partner", "unknown aff_id"),
  });
  expect(await tested({ amount: "x" })).toMatchObject({ http_status: 400 });
  expect(await count()).toEqual(before);
  const wrong = await world.post("/me/test-postback", { params: { a: 1 } }, OWN);
  expect(refusal(wrong)).toBe("400 validation_failed");
});

test("an advertiser that is not active is refused everywhere below /me", async () => {
  const gone: Tenant = await world.addTenant("gone");
  await world.pool.query({
    text: "update advertiser set status = 'paused' where id = $1",
    values: [gone.advertiserId],
  });
  for (const [method, path] of PATHS) {
    const key = gone.keys.advertiser;
    expect(refusal(await world.call(method, path, { key, body: BODIES[path] }))).toBe(
      "403 advertiser_inactive",
    );
  }
});

import { expect, test } from "vitest";
import { z } from "zod";
import { hashOfKey } from "../../../api/access/api-keys.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { type Answer, details, list, record, refusal, someText } from "./api-world.ts";
import { WebhookWorld } from "./webhook-world.ts";

const hooks = await forThisFile(WebhookWorld.open());
const world = hooks.api;
const { keys } = world.tenant;

const dataOf = ({ body }: Answer): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(body["data"]);

/** A partner with one key of its own. */
async function partner(key: Record<string, unknown> = {}) {
  const { id } = record(await world.post("/affiliates", { name: "Own" }));
  const made = dataOf(await world.post("/keys", { role: "partner", affiliate_id: id, ...key }));
  return { id: Number(id), key: String(made["key"]), keyId: Number(made["id"]) };
}

test("a partner reads and changes its contact details, and the change is sent (G129)", async () => {
  const hook = await hooks.listen("profile", ["affiliate.updated"]);
  const before = dataOf(await world.get("/me/profile", keys.partner));
  expect(before).toEqual({
    name: "Partner",
    email: "",
    company: "",
    contact_name: "",
    phone: "",
    website: "",
    messenger: "",
    traffic_sources: "",
    country: "",
    updated_at: someText,
  });
  const change = {
    company: "Anna Media",
    contact_name: "Anna",
    phone: "+49 1",
    website: "https://anna.example",
    messenger: "@anna",
    traffic_sources: "mail",
    country: "DE",
  };
  const after = dataOf(await world.patch("/me/profile", change, keys.partner));
  expect(after).toEqual({ ...before, ...change, updated_at: someText });
  expect(after["updated_at"]).not.toBe(before["updated_at"]);
  expect(dataOf(await world.patch("/me/profile", change, keys.partner))).toEqual(after);
  const seen = record(await world.get(`/affiliates/${world.tenant.affiliateId}`));
  expect(seen).toMatchObject({ ...change, status: "active", notes: "" });
  const [document] = await hooks.told(hook, 1);
  expect(document).toMatchObject({
    data: { id: world.tenant.affiliateId, company: "Anna Media", country: "DE" },
    previous: { company: "", country: "" },
  });
  expect(await hooks.deliveries(hook)).toHaveLength(1);
});

test("an advertiser has a profile without the fields of partners, and staff has none", async () => {
  const change = { company: "Shop", country: "FR" };
  const changed = dataOf(await world.patch("/me/profile", change, keys.advertiser));
  expect(changed).toMatchObject({ name: "Advertiser", ...change });
  expect(Object.keys(changed)).not.toContain("messenger");
  expect(record(await world.get(`/advertisers/${world.tenant.advertiserId}`))).toMatchObject(
    change,
  );
  const refused = await world.patch("/me/profile", { messenger: "x" }, keys.advertiser);
  expect(Object.keys(details(refused).fields)).toEqual(["messenger"]);
  expect(refusal(await world.get("/me/profile", keys.admin))).toBe("403 forbidden");
  expect(refusal(await world.patch("/me/profile", {}, keys.analyst))).toBe("403 read_only_key");
});

test.each([
  ["name", { name: "Boss" }],
  ["status", { status: "active" }],
  ["email", { email: "a@b.example" }],
  ["tier", { tier: "gold" }],
  ["company", { company: 1 }],
  ["phone", { phone: "1".repeat(501) }],
  ["country", { country: "XX" }],
])("PATCH /me/profile: %s is refused by name", async (field, body) => {
  const answer = await world.patch("/me/profile", body, keys.partner);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields)).toEqual([field]);
});

test("an account makes, lists and revokes its own keys, and no others (P30, G06)", async () => {
  const own = await partner();
  const body = {
    name: "Server",
    ip_allowlist: ["127.0.0.0/8"],
    expires_at: "2098-01-01T00:00:00Z",
  };
  const made = await world.post("/me/keys", body, own.key);
  expect(made.status).toBe(201);
  const { key, id } = z.looseObject({ key: z.string(), id: z.int() }).parse(dataOf(made));
  expect(dataOf(made)).toMatchObject({
    name: "Server",
    role: "partner",
    ip_allowlist: ["127.0.0.0/8"],
    expires_at: "2098-01-01T00:00:00.000Z",
  });
  expect(dataOf(await world.get("/me", key))).toMatchObject({
    key: { role: "partner" },
    affiliate: { id: own.id },
  });
  const listed = await world.get("/me/keys", own.key);
  expect(list(listed).map((row) => row.id)).toEqual([id, own.keyId]);
  expect(listed.text).not.toContain(key);
  // A key of another account is not there.
  const [foreign] = list(await world.get(`/keys?affiliate_id=${world.tenant.affiliateId}`));
  for (const other of [String(foreign?.id), "999999", "x"])
    expect((await world.call("DELETE", `/me/keys/${other}`, { key: own.key })).status).toBe(404);
  expect((await world.call("DELETE", `/me/keys/${id}`, { key: own.key })).body).toEqual({
    data: { id, deleted: true },
  });
  expect(refusal(await world.get("/me", key))).toBe("401 invalid_api_key");
  const last = await world.call("DELETE", `/me/keys/${own.keyId}`, { key: own.key });
  expect(refusal(last)).toBe("409 in_use");
  expect(refusal(await world.get("/me/keys"))).toBe("403 forbidden");
});

test("an account has at most ten usable keys, also when several are made at once", async () => {
  const own = await partner();
  const made = await Promise.all(
    Array.from({ length: 12 }, async () => await world.post("/me/keys", {}, own.key)),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
  expect(made.filter(({ status }) => status !== 201).map(refusal)).toEqual(
    Array.from({ length: 3 }, () => "409 conflict"),
  );
});

test("of two requests that revoke the last two keys, one is refused", async () => {
  const own = await partner();
  const second = z
    .looseObject({ key: z.string(), id: z.int() })
    .parse(dataOf(await world.post("/me/keys", {}, own.key)));
  const answers = await Promise.all([
    world.call("DELETE", `/me/keys/${own.keyId}`, { key: second.key }),
    world.call("DELETE", `/me/keys/${second.id}`, { key: own.key }),
  ]);
  const { rows } = await world.pool.query<{ count: number }>({
    text: "select count(*) as count from api_key where affiliate_id = $1 and revoked_at is null",
    values: [own.id],
  });
  expect(rows[0]?.count).toBe(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("a key makes no key that can be used from more addresses or for longer than itself", async () => {
  const expires_at = "2090-01-01T00:00:00.000Z";
  const own = await partner({ ip_allowlist: ["127.0.0.0/8", "::1"], expires_at });
  const inherited = dataOf(await world.post("/me/keys", {}, own.key));
  expect(inherited).toMatchObject({ ip_allowlist: ["127.0.0.0/8", "::1"], expires_at });
  expect(
    dataOf(await world.post("/me/keys", { ip_allowlist: ["127.0.0.9"] }, own.key)),
  ).toMatchObject({
    ip_allowlist: ["127.0.0.9"],
    expires_at,
  });
  for (const [field, body] of [
    ["ip_allowlist", { ip_allowlist: [] }],
    ["ip_allowlist[1]", { ip_allowlist: ["127.0.0.1", "10.0.0.0/8"] }],
    ["expires_at", { expires_at: "2091-01-01T00:00:00Z" }],
    ["expires_at", { expires_at: "2001-01-01T00:00:00Z" }],
    ["expires_at", { expires_at: "soon" }],
    ["name", { name: 1 }],
    ["role", { role: "admin" }],
    ["affiliate_id", { affiliate_id: 1 }],
  ] as const) {
    const answer = await world.post("/me/keys", body, own.key);
    expect(Object.keys(details(answer).fields), JSON.stringify(body)).toEqual([field]);
  }
});

test("the staff lists the keys of one account", async () => {
  const own = await partner();
  const listed = list(await world.get(`/keys?affiliate_id=${own.id}`));
  expect(listed.map(({ id }) => id)).toEqual([own.keyId]);
  const ofAdvertiser = list(await world.get(`/keys?advertiser_id=${world.tenant.advertiserId}`));
  expect(ofAdvertiser).toHaveLength(1);
  expect(ofAdvertiser[0]).toMatchObject({ role: "advertiser" });
  expect(list(await world.get(`/keys?affiliate_id=${hooks.foreign.affiliateId}`))).toEqual([]);
  expect(details(await world.get("/keys?affiliate_id=x")).param).toBe("affiliate_id");
  // Only the hash of a key is stored.
  const { rows } = await world.pool.query({
    text: "select id from api_key where secret_hash = $1",
    values: [hashOfKey(own.key)],
  });
  expect(rows).toHaveLength(1);
});

test("a manager of partners decides access without the permission to change offers (G09)", async () => {
  const made = await world.post("/keys", {
    role: "admin",
    permissions: ["affiliates.read", "affiliates.write"],
  });
  const manager = String(dataOf(made)["key"]);
  const offer = await world.offer({ visibility: "approval" });
  await world.post(`/offers/${offer.id}/access-request`, {}, keys.partner);
  expect((await world.get("/access-requests", manager)).status).toBe(200);
  expect((await world.get(`/offers/${offer.id}/affiliates`, manager)).status).toBe(200);
  const items = [{ offer_id: offer.id, affiliate_id: world.tenant.affiliateId }];
  const answer = await world.patch("/access-requests", { items, status: "approved" }, manager);
  expect(dataOf(answer)["updated"]).toHaveLength(1);
  const path = `/offers/${offer.id}/affiliates/${world.tenant.affiliateCode}`;
  const put = { key: manager, body: { status: "rejected" } };
  expect((await world.call("PUT", path, put)).status).toBe(200);
  expect((await world.get("/users", manager)).status).toBe(200);
  expect(refusal(await world.patch(`/offers/${offer.id}`, { name: "x" }, manager))).toBe(
    "403 forbidden",
  );
  expect(refusal(await world.post("/users", { name: "x" }, manager))).toBe("403 forbidden");
  const reader = String(
    dataOf(await world.post("/keys", { role: "admin", permissions: ["clicks.read"] }))["key"],
  );
  expect(refusal(await world.get("/access-requests", reader))).toBe("403 forbidden");
  expect(refusal(await world.get("/users", reader))).toBe("403 forbidden");
});

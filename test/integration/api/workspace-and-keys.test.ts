import { expect, test } from "vitest";
import { permissionsOf } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, details, list, record, refusal, someText, textWith } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const foreign = await world.addTenant("foreign");

const text = (value: unknown): string => String(value);

test("the workspace has its defaults, and only admins see its token (G180)", async () => {
  const { body } = await world.get("/workspace");
  expect(body["data"]).toEqual({
    id: world.tenant.workspaceId,
    slug: "first",
    name: "first",
    brand_name: "first",
    timezone: "UTC",
    currency: "USD",
    status: "active",
    default_fallback_url: "",
    allowed_destinations: [],
    attribution_model: "last",
    advertiser_updates: true,
    organic_affiliate_id: null,
    email_attribution: false,
    ip_storage: "full",
    fraud_checks: {},
    forward_unknown_url: "",
    advertiser_may_rotate: true,
    sign_up: "closed",
    postback_token: someText,
    created_at: someText,
    updated_at: someText,
  });
  const seen = record(await world.get("/workspace", world.tenant.keys.analyst));
  expect("postback_token" in seen).toBe(false);
  for (const key of [world.tenant.keys.partner, world.tenant.keys.advertiser])
    expect(refusal(await world.get("/workspace", key))).toBe("403 forbidden");
});

test("a misspelled macro of the workspace's fallback is refused with the nearest one (G148)", async () => {
  const answer = await world.patch("/workspace", {
    default_fallback_url: "https://f.example/?c={affiliatecode}",
  });
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(details(answer).fields).toEqual({
    default_fallback_url: textWith("{affiliate_code}"),
  });
});

test("changed settings of the workspace apply to the next request", async () => {
  const change = {
    name: "Renamed",
    brand_name: "Brand",
    timezone: "Asia/Kolkata",
    default_fallback_url: "https://fallback.example/?c={click_id}",
    allowed_destinations: ["shop.example", "*.brand.example"],
    attribution_model: "first",
    advertiser_updates: false,
    organic_affiliate_id: world.tenant.affiliateId,
    email_attribution: true,
    ip_storage: "truncated",
    fraud_checks: { bot: true, duplicate_conv_ip: 2 },
    forward_unknown_url: "https://other.example/pb",
    advertiser_may_rotate: false,
    sign_up: "review",
  };
  const changed = await world.patch("/workspace", change);
  expect([changed.status, changed.body]).toMatchObject([200, { data: change }]);
  expect(record(await world.get("/workspace"))).toEqual(record(changed));
  const me = await world.get("/me");
  expect(me.body["data"]).toMatchObject({
    workspace: { name: "Renamed", timezone: "Asia/Kolkata" },
  });
  const same = await world.patch("/workspace", change);
  expect(record(same)["updated_at"]).toBe(record(changed)["updated_at"]);
});

test.each([
  ["timezone", { timezone: "Mars/Base" }],
  ["currency", { currency: "ZZZZ" }],
  ["slug", { slug: "Not A Slug" }],
  ["attribution_model", { attribution_model: "middle" }],
  ["default_fallback_url", { default_fallback_url: "ftp://x" }],
  ["organic_affiliate_id", { organic_affiliate_id: 999_999 }],
  ["fraud_checks.bot", { fraud_checks: { bot: "yes" } }],
  ["postback_token", { postback_token: "mine" }],
] as const)("PATCH /workspace: a wrong %s is refused with its name", async (field, body) => {
  const answer = await world.patch("/workspace", body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields ?? {})).toEqual([field]);
});

test("a slug of another workspace is a conflict", async () => {
  const answer = await world.patch("/workspace", { slug: "foreign" });
  expect([refusal(answer), details(answer).field]).toEqual(["409 conflict", "slug"]);
});

test("a rotated token is in the answer", async () => {
  const before = record(await world.get("/workspace"))["postback_token"];
  const rotated = await world.post("/workspace/rotate-postback-token", {});
  expect(rotated.status).toBe(200);
  expect(record(rotated)["postback_token"]).toMatch(/^[0-9a-f]{32}$/);
  expect(record(rotated)["postback_token"]).not.toBe(before);
  expect(record(await world.get("/workspace"))).toEqual(record(rotated));

  const path = `/advertisers/${world.tenant.advertiserId}`;
  const old = record(await world.get(path))["postback_token"];
  const next = await world.call("POST", `${path}/rotate-postback-token`);
  expect(next.status).toBe(200);
  expect(record(next)["postback_token"]).not.toBe(old);
  expect(record(await world.get(path))).toEqual(record(next));
  const { keys } = world.tenant;
  expect(refusal(await world.post("/workspace/rotate-postback-token", {}, keys.analyst))).toBe(
    "403 read_only_key",
  );
  expect((await world.post(`${path}/rotate-postback-token`, {}, foreign.keys.admin)).status).toBe(
    404,
  );
});

test("a key of each role works at once, is listed without its secret, and is revoked (G06)", async () => {
  const { affiliateId: affiliate_id, advertiserId: advertiser_id } = world.tenant;
  for (const [role, account] of [
    ["admin", {}],
    ["analyst", {}],
    ["partner", { affiliate_id }],
    ["advertiser", { advertiser_id }],
  ] as const) {
    const made = await world.post("/keys", { name: `my ${role}`, role, ...account });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        data: {
          name: `my ${role}`,
          role,
          affiliate_id: null,
          advertiser_id: null,
          ...account,
          permissions: permissionsOf(role, null),
          ip_allowlist: [],
          expires_at: null,
          last_used_at: null,
          revoked_at: null,
        },
      },
    ]);
    const secret = text(record(made)["key"]);
    expect(secret).toMatch(/^trk_live_[0-9A-Za-z]{40}$/);
    expect((await world.get("/me", secret)).body["data"]).toMatchObject({
      key: { id: record(made).id, name: `my ${role}`, role },
    });
    const path = `/keys/${record(made).id}`;
    expect("key" in record(await world.get(path))).toBe(false);
    expect(JSON.stringify((await world.get("/keys")).body)).not.toContain(secret);
    expect((await world.call("DELETE", path)).body).toEqual({
      data: { id: record(made).id, deleted: true },
    });
    expect(refusal(await world.get("/me", secret))).toBe("401 invalid_api_key");
    const revoked = record(await world.get(path));
    expect(revoked["revoked_at"]).toEqual(someText);
    await world.call("DELETE", path);
    expect(record(await world.get(path))["revoked_at"]).toBe(revoked["revoked_at"]);
  }
});

test("a staff key with permissions has only those, and cannot add any (G09)", async () => {
  const body = { role: "admin", permissions: ["offers.read", "reports.read"] };
  const secret = text(record(await world.post("/keys", body))["key"]);
  expect((await world.get("/offers", secret)).status).toBe(200);
  expect(refusal(await world.get("/affiliates", secret))).toBe("403 forbidden");
  expect(refusal(await world.post("/keys", { role: "admin" }, secret))).toBe("403 forbidden");
  expect(refusal(await world.get("/workspace", secret))).toBe("403 forbidden");
  expect(refusal(await world.patch("/workspace", {}, secret))).toBe("403 forbidden");
});

test("a key with addresses and an expiry is limited by both (G06, G07)", async () => {
  const elsewhere = await world.post("/keys", {
    role: "analyst",
    ip_allowlist: ["203.0.113.0/24"],
  });
  expect(refusal(await world.get("/me", text(record(elsewhere)["key"])))).toBe(
    "403 ip_not_allowed",
  );
  const made = await world.post("/keys", {
    role: "analyst",
    ip_allowlist: ["127.0.0.1"],
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const secret = text(record(made)["key"]);
  expect((await world.get("/me", secret)).status).toBe(200);
  await world.pool.query({
    text: "update api_key set expires_at = now() - interval '1 second' where id = $1",
    values: [record(made).id],
  });
  await world.patch("/workspace", {});
  expect(refusal(await world.get("/me", secret))).toBe("401 invalid_api_key");
});

test.each([
  ["role", {}],
  ["role", { role: "owner" }],
  ["affiliate_id", { role: "partner" }],
  ["affiliate_id", { role: "partner", affiliate_id: 999_999 }],
  ["advertiser_id", { role: "advertiser" }],
  ["advertiser_id", { role: "admin", advertiser_id: 1 }],
  ["permissions", { role: "partner", affiliate_id: 1, permissions: ["offers.read"] }],
  ["permissions[0]", { role: "analyst", permissions: ["offers.write"] }],
  ["permissions[0]", { role: "admin", permissions: ["everything"] }],
  ["ip_allowlist[0]", { role: "admin", ip_allowlist: ["here"] }],
  ["expires_at", { role: "admin", expires_at: "2020-01-01T00:00:00Z" }],
] as const)("POST /keys: a wrong %s is refused with its name", async (field, body) => {
  const answer = await world.post("/keys", body);
  expect(refusal(answer)).toBe("400 validation_failed");
  expect(Object.keys(details(answer).fields ?? {})).toEqual([field]);
});

test("keys of another workspace are 404", async () => {
  const { id } = record(await world.post("/keys", { role: "admin" }));
  expect((await world.get(`/keys/${id}`, foreign.keys.admin)).status).toBe(404);
  const deleted = await world.call("DELETE", `/keys/${id}`, { key: foreign.keys.admin });
  expect(deleted.status).toBe(404);
  const seen = list(await world.get("/keys?limit=200", foreign.keys.admin));
  expect(seen.map((key) => key.id)).not.toContain(id);
});

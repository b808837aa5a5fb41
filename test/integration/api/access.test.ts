import { describe, expect, test } from "vitest";
import type { Role } from "../../../api/operation/permissions.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, containing, refusal, someId, someText } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open({ trustedProxies: ["127.0.0.1"] }));

async function setKeys(column: string, value: unknown): Promise<void> {
  const { workspaceId } = world.tenant;
  const statements: Record<string, string> = {
    ip_allowlist:
      "update api_key set ip_allowlist = $2 where workspace_id = $1 and role = 'analyst'",
    permissions: "update api_key set permissions = $2 where workspace_id = $1 and role = 'analyst'",
    expires_at: "update api_key set expires_at = $2 where workspace_id = $1 and role = 'analyst'",
    revoked_at: "update api_key set revoked_at = $2 where workspace_id = $1 and role = 'analyst'",
    workspace: "update workspace set status = $2 where id = $1",
  };
  await world.pool.query({ text: statements[column] ?? "", values: [workspaceId, value] });
}

/** Calls a new process: a change by another process applies within a second, in a new one at once. */
async function freshly(path: string, key: string, headers: Record<string, string> = {}) {
  const origin = await world.startAnother({ trustedProxies: ["127.0.0.1"] });
  return await world.callAt(origin, "GET", path, { key, headers });
}

describe("keys", () => {
  test("a missing, wrong, expired or revoked key is 401 (AUTH-001, AUTH-002, AUTH-003, AUTH-018, G05, G06)", async () => {
    const { keys } = world.tenant;
    for (const [authorization, expected] of [
      [undefined, "401 missing_api_key"],
      ["Bearer ", "401 missing_api_key"],
      [`Basic ${keys.admin}`, "401 missing_api_key"],
      ["Bearer nonsense", "401 invalid_api_key"],
      [`Bearer ${keys.admin}x`, "401 invalid_api_key"],
    ] as const) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await world.call("GET", "/me", { key: undefined, headers });
      expect(refusal(answer), String(authorization)).toBe(expected);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    const shouted = await world.call("GET", "/me", {
      key: undefined,
      headers: { authorization: `BEARER ${keys.admin}` },
    });
    expect(shouted.status).toBe(200);
    await setKeys("expires_at", new Date(Date.now() - 1000));
    expect(refusal(await freshly("/me", keys.analyst))).toBe("401 invalid_api_key");
    await setKeys("expires_at", null);
    await setKeys("revoked_at", new Date());
    expect(refusal(await freshly("/me", keys.analyst))).toBe("401 invalid_api_key");
    await setKeys("revoked_at", null);
    expect((await freshly("/me", keys.analyst)).status).toBe(200);
  });

  test("only the hash of a key is stored (P31)", async () => {
    const { rows } = await world.pool.query<{ row: string }>({
      text: "select to_jsonb(k)::text as row from api_key k",
    });
    for (const key of Object.values(world.tenant.keys)) {
      expect(rows.some(({ row }) => row.includes(key))).toBe(false);
    }
  });

  test("an address outside the key's list is refused, also if forged (AUTH-004, AUTH-005, G07, P33)", async () => {
    const { analyst } = world.tenant.keys;
    await setKeys("ip_allowlist", ["203.0.113.0/24", "2001:db8::/32"]);
    const from = (forwarded: string) => freshly("/me", analyst, { "x-forwarded-for": forwarded });
    expect((await from("203.0.113.5")).status).toBe(200);
    expect((await from("2001:db8::1")).status).toBe(200);
    expect(refusal(await from("203.0.113.5, 198.51.100.7"))).toBe("403 ip_not_allowed");
    expect(refusal(await from("198.51.100.7"))).toBe("403 ip_not_allowed");
    await setKeys("ip_allowlist", []);
    expect((await from("198.51.100.7")).status).toBe(200);
  });

  test("the last use of a key is stored (G177)", async () => {
    await world.get("/me");
    await expect
      .poll(async () => {
        const { rows } = await world.pool.query<{ last_used_at: string | null }>({
          text: "select last_used_at from api_key where workspace_id = $1 and role = 'admin'",
          values: [world.tenant.workspaceId],
        });
        return rows[0]?.last_used_at;
      })
      .not.toBeNull();
  });
});

describe("accounts", () => {
  test("a partner that is not active is refused at the next request (AUTH-010, G08)", async () => {
    const { affiliateId, keys } = world.tenant;
    expect((await world.get("/me", keys.partner)).status).toBe(200);
    for (const status of ["blocked", "pending", "rejected"]) {
      await world.patch(`/affiliates/${affiliateId}`, { status });
      expect(refusal(await world.get("/me", keys.partner))).toBe("403 affiliate_inactive");
    }
    await world.patch(`/affiliates/${affiliateId}`, { status: "active" });
    expect((await world.get("/me", keys.partner)).status).toBe(200);
  });

  test("an advertiser that is not active is refused at the next request (AUTH-009, G08)", async () => {
    const { advertiserId, keys } = world.tenant;
    for (const status of ["paused", "inactive"]) {
      await world.patch(`/advertisers/${advertiserId}`, { status });
      expect(refusal(await world.get("/me", keys.advertiser))).toBe("403 advertiser_inactive");
    }
    await world.patch(`/advertisers/${advertiserId}`, { status: "active" });
    expect((await world.get("/me", keys.advertiser)).status).toBe(200);
  });

  test("keys of an inactive workspace are refused on every call (AUTH-008)", async () => {
    await setKeys("workspace", "inactive");
    for (const key of Object.values(world.tenant.keys)) {
      expect(refusal(await freshly("/nowhere", key))).toBe("403 workspace_inactive");
    }
    await setKeys("workspace", "active");
  });
});

describe("roles", () => {
  const writes = [
    ["POST", "/offers"],
    ["PATCH", "/offers/999999"],
    ["POST", "/offers/999999/events"],
    ["PUT", "/offers/999999/affiliates/NOBODY"],
    ["POST", "/affiliates"],
    ["PATCH", "/affiliates/999999"],
    ["POST", "/advertisers"],
    ["PATCH", "/advertisers/999999"],
    ["POST", "/conversions"],
    ["PATCH", "/conversions"],
    ["PATCH", "/conversions/00000000-0000-4000-8000-000000000000"],
  ] as const;

  test.each(writes)(
    "%s %s: the role is checked first (AUTH-006, AUTH-013, AUTH-014, CNV-037, VIS-056, G03, T38)",
    async (method, path) => {
      const refused = async (role: Role) =>
        refusal(
          await world.call(method, path, {
            key: world.tenant.keys[role],
            raw: "{",
            headers: { "content-type": "text/plain" },
          }),
        );
      expect(await refused("analyst")).toBe("403 read_only_key");
      expect(await refused("partner")).toBe("403 forbidden");
      expect(await refused("advertiser")).toBe("403 forbidden");
      expect(await refused("admin")).toBe("415 unsupported_media_type");
    },
  );

  test.each(["/affiliates", "/affiliates/1", "/advertisers", "/advertisers/1"])(
    "%s is for staff only (AUTH-015, ADV-008, VIS-018, VIS-020)",
    async (path) => {
      expect(refusal(await world.get(path, world.tenant.keys.partner))).toBe("403 forbidden");
      expect(refusal(await world.get(path, world.tenant.keys.advertiser))).toBe("403 forbidden");
      expect((await world.get(path, world.tenant.keys.analyst)).status).toBe(200);
    },
  );

  test("a staff key has the permissions it is restricted to and no others (G09)", async () => {
    const { analyst } = world.tenant.keys;
    await setKeys("permissions", ["offers.read", "affiliates.write"]);
    expect((await freshly("/offers", analyst)).status).toBe(200);
    expect(refusal(await freshly("/advertisers", analyst))).toBe("403 forbidden");
    expect((await freshly("/me", analyst)).body["data"]).toMatchObject({
      permissions: ["offers.read"],
    });
    await setKeys("permissions", null);
  });
});

describe("GET /me", () => {
  test("shows key and permissions (ME-001, ME-002, ME-003, ME-004, ME-005, ME-006, AUTH-012, G10)", async () => {
    const { keys, workspaceId, affiliateId, affiliateCode, advertiserId } = world.tenant;
    const me = async (role: Role) => (await world.get("/me", keys[role])).body["data"];
    const workspace = {
      id: workspaceId,
      slug: "first",
      name: "first",
      timezone: "UTC",
      currency: "USD",
    };
    for (const role of ["admin", "analyst"] as const) {
      expect(await me(role)).toMatchObject({
        key: { id: someId, name: someText, role },
        workspace,
        affiliate: null,
        advertiser: null,
        permissions: containing([
          "dashboard.read",
          "reports.read",
          "offers.read",
          "advertisers.read",
        ]),
      });
    }
    expect(await me("partner")).toMatchObject({
      affiliate: {
        id: affiliateId,
        code: affiliateCode,
        name: "Partner",
        status: "active",
        currency: "USD",
      },
      advertiser: null,
    });
    expect(await me("advertiser")).toMatchObject({
      affiliate: null,
      advertiser: { id: advertiserId, name: "Advertiser", status: "active", currency: "USD" },
    });
  });
});

test("the audit log has every write, also refused ones, and no reads (G177)", async () => {
  const requestId = "audit-test-1";
  const call = async (method: string, path: string, key: string) =>
    await world.call(method, path, {
      key,
      body: method === "GET" ? undefined : { name: "Noted" },
      headers: { "x-request-id": requestId, "x-forwarded-for": "198.51.100.9" },
    });
  await call("POST", "/advertisers?_x=1", world.tenant.keys.admin);
  await call("POST", "/advertisers", world.tenant.keys.analyst);
  await call("GET", "/advertisers", world.tenant.keys.admin);
  const { rows } = await world.pool.query({
    text: `select workspace_id, user_name, action, host(ip) as ip, status from audit_log where request_id = $1 order by id`,
    values: [requestId],
  });
  const common = {
    workspace_id: world.tenant.workspaceId,
    action: "rest POST /api/v1/advertisers",
    ip: "198.51.100.9",
  };
  expect(rows).toEqual([
    { ...common, user_name: "Admin", status: 201 },
    { ...common, user_name: "analyst", status: 403 },
  ]);
});

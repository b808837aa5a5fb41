import { describe, expect, test } from "vitest";
import { z } from "zod";
import { insertKey } from "../../../api/access/insert-key.ts";
import { ROLES } from "../../../api/operation/permissions.ts";
import { words } from "../../samples/words.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";
import { whileTableIsLocked } from "./locked-table.ts";
import { McpCaller, rpcAnswer, rpcAnswers } from "./mcp-caller.ts";

const TOOLS = words(`
  whoami run_report list_offers get_offer list_affiliates get_affiliate list_conversions
  get_conversion lookup_clicks tracking_link
`);
const LIMIT = 1_000_000;
const BODY_BYTES_MAX = 1024 ** 2;

const world = await forThisFile(ApiWorld.open());
const admin = callerOf(world.tenant.keys.admin);

function callerOf(key: string): McpCaller {
  return new McpCaller(world.origin, key);
}

const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
const notification = { jsonrpc: "2.0", method: "notifications/initialized" };

describe("HTTP", () => {
  test.each(["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "PROPFIND"])(
    "%s answers 405 and names POST, with a key and without (MCP-001)",
    async (method) => {
      const headers = { authorization: `Bearer ${world.tenant.keys.admin}` };
      for (const sent of [headers, {}]) {
        const answer = await fetch(admin.url, { method, headers: sent });
        await answer.arrayBuffer();
        expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      }
    },
  );

  test("an answer is JSON with the headers of REST, for any Accept, without a session (MCP-002)", async () => {
    const accepting = { accept: "text/event-stream", "mcp-protocol-version": "1999-01-01" };
    for (const headers of [{}, accepting, { "mcp-session-id": "of-another-server" }]) {
      const answer = await admin.post(ping(1), { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(answer.headers.get("mcp-session-id")).toBeNull();
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expect(answer.headers.get("x-ratelimit-limit")).toBe(String(LIMIT));
      expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test.each([
    ["no key", undefined, "missing_api_key"],
    ["an unknown key", "trk_live_0000000000000000000000000000000000000000", "invalid_api_key"],
  ])("%s is HTTP 401 with -32001 (MCP-003, AUTH-017, T43)", async (_name, key, code) => {
    const answer = await admin.post(ping(1), { key });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer resource_metadata="http/);
    expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_001 } });
    expect(rpcAnswer(answer).error?.message).toMatch(new RegExp(`^${code}: `));
  });

  test("a key that may not be used is HTTP 403 with -32001 (MCP-004, AUTH-017, T43)", async () => {
    const { workspaceId, affiliateId, keys } = world.tenant;
    const elsewhere = await insertKey(world.pool, {
      workspaceId,
      name: "elsewhere",
      role: "analyst",
      ipAllowlist: ["192.0.2.1"],
    });
    const refused = await admin.post(ping(1), { key: elsewhere });
    expect(refused.status).toBe(403);
    expect(rpcAnswer(refused).error).toMatchObject({ code: -32_001 });
    expect(rpcAnswer(refused).error?.message).toMatch(/^ip_not_allowed: /);
    await world.patch(`/affiliates/${affiliateId}`, { status: "blocked" });
    const blocked = await admin.post(ping(1), { key: keys.partner });
    expect([blocked.status, rpcAnswer(blocked).error?.code]).toEqual([403, -32_001]);
    await world.patch(`/affiliates/${affiliateId}`, { status: "active" });
    expect((await admin.post(ping(1), { key: keys.partner })).status).toBe(200);
  });

  test.each(["{", "", "ping", "[", '{"jsonrpc":"2.0"}}'])(
    "a body that is not JSON (%j) is HTTP 400 with -32700 (MCP-007)",
    async (raw) => {
      const answer = await admin.post(undefined, { raw });
      expect(answer.status).toBe(400);
      expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_700 } });
    },
  );

  test("a body of 1 MiB is served, one byte more is HTTP 413 with -32600 (MCP-008, G174, T70)", async () => {
    const message = JSON.stringify(ping(1));
    const whole = message + " ".repeat(BODY_BYTES_MAX - message.length);
    expect((await admin.post(undefined, { raw: whole })).status).toBe(200);
    const answer = await admin.post(undefined, { raw: `${whole} ` });
    expect(answer.status).toBe(413);
    expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  test("a path below /mcp is 404", async () => {
    expect((await fetch(`${admin.url}/tools`, { method: "POST" })).status).toBe(404);
  });

  test("an unreachable store is 503 with Retry-After and without internal details", async () => {
    const fresh = new McpCaller(await world.startAnother(), world.tenant.keys.admin);
    const answer = await whileTableIsLocked(world.pool, "api_key", () => fresh.post(ping(1)));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_603 } });
    expect(answer.text).not.toMatch(/api_key|lock/);
  });
});

describe("messages", () => {
  test.each([[1], [0], [-7], [2.5], ["one"], [""]])(
    "the id %j is returned with the empty answer to ping (MCP-039, MCP-032)",
    async (id) => {
      const answer = await admin.post(ping(id));
      expect(JSON.parse(answer.text)).toEqual({ jsonrpc: "2.0", id, result: {} });
    },
  );

  test.each([
    [{}, null],
    [{ id: 4, method: "ping" }, 4],
    [{ jsonrpc: "1.0", id: 4, method: "ping" }, 4],
    [{ jsonrpc: "2.0", id: "four" }, "four"],
    [{ jsonrpc: "2.0", id: 4, method: 5 }, 4],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: { a: 1 }, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: 4, method: "ping", params: [1] }, 4],
    [{ jsonrpc: "2.0", id: 4, result: {} }, 4],
    ["ping", null],
    [null, null],
    [7, null],
  ])("%j is -32600 in a 200 answer (MCP-010)", async (message, id) => {
    const answer = await admin.post(message);
    expect(answer.status).toBe(200);
    expect(rpcAnswer(answer)).toMatchObject({ id, error: { code: -32_600 } });
  });

  test.each(["foo/bar", "resources/subscribe", "logging/setLevel", "", "__proto__"])(
    "the unknown method %j is -32601 in a 200 answer (MCP-011, T43)",
    async (method) => {
      expect((await admin.request(method)).error?.code).toBe(-32_601);
    },
  );

  test.each([
    { name: "zz" },
    { name: "listOffers" },
    { name: "toString" },
    { name: 5 },
    {},
    undefined,
  ])(
    "tools/call with %j, which is no tool, is -32602 in a 200 answer (MCP-012, T43)",
    async (params) => {
      expect((await admin.request("tools/call", params)).error?.code).toBe(-32_602);
    },
  );

  test("a request of notifications only is 202 with an empty body (MCP-033, T44)", async () => {
    const unanswered = { jsonrpc: "2.0", method: "tools/call", params: { name: "whoami" } };
    for (const body of [notification, [notification, notification], unanswered]) {
      const answer = await admin.post(body);
      expect([answer.status, answer.text]).toEqual([202, ""]);
    }
  });

  test("twenty messages are answered as an array in order, twenty-one are -32600 (MCP-009, G174)", async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => ping(index % 2 ? index : `${index}`));
    const answer = await admin.post(twenty);
    expect(answer.status).toBe(200);
    expect(rpcAnswers(answer).map(({ id }) => id)).toEqual(twenty.map(({ id }) => id));
    const tooMany = await admin.post([...twenty, ping(21)]);
    expect(tooMany.status).toBe(200);
    expect(rpcAnswer(tooMany)).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  test("an empty batch is one -32600 in a 200 answer (MCP-010, G174)", async () => {
    const answer = await admin.post([]);
    expect(answer.status).toBe(200);
    expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  test("a batch is answered without its notifications (MCP-034, T44)", async () => {
    const batch = [
      notification,
      ping("a"),
      5,
      notification,
      { jsonrpc: "2.0", id: 2, method: "nope" },
      [ping(3)],
      { jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "whoami" } },
    ];
    const answers = rpcAnswers(await admin.post(batch));
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ["a", undefined],
      [null, -32_600],
      [2, -32_601],
      [null, -32_600],
      [4, undefined],
    ]);
    const single = await admin.post([ping(1)]);
    expect(rpcAnswers(single)).toHaveLength(1);
  });
});

describe("initialize", () => {
  const client = { clientInfo: { name: "test", version: "1" }, capabilities: {} };

  test.each([
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
  ])("version %s is supported (MCP-013)", async (protocolVersion, expected) => {
    const result = await admin.result("initialize", { protocolVersion, ...client });
    expect(result["protocolVersion"]).toBe(expected);
  });

  test.each(["1999-01-01", "2025-11-25", "", 5, undefined])(
    "version %j is answered with 2025-06-18, not with an error (MCP-014, T45)",
    async (protocolVersion) => {
      const result = await admin.result("initialize", { protocolVersion, ...client });
      expect(result["protocolVersion"]).toBe("2025-06-18");
    },
  );

  test("the server has the name of brand or workspace, and its capabilities (MCP-015, G176)", async () => {
    const { name } = z
      .looseObject({ name: z.string() })
      .parse((await world.get("/workspace")).body["data"]);
    await world.patch("/workspace", { brand_name: "Blue Ads" });
    const branded = await admin.result("initialize", { protocolVersion: "2025-06-18" });
    expect(branded).toMatchObject({
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: "Blue Ads", version: "1.0.0" },
    });
    await world.patch("/workspace", { brand_name: "" });
    const plain = await admin.result("initialize", { protocolVersion: "2025-06-18" });
    expect(plain["serverInfo"]).toEqual({ name, version: "1.0.0" });
  });

  test.each(ROLES)(
    "%s keys get workspace, currency, zone, role and the names they may use (MCP-015, MCP-035)",
    async (role) => {
      const caller = callerOf(world.tenant.keys[role]);
      const result = await caller.result("initialize", { protocolVersion: "2025-06-18" });
      const text = z.string().parse(result["instructions"]);
      for (const fact of ['"first"', "USD", "UTC", `role ${role}`, "run_report", "country"])
        expect(text).toContain(fact);
      expect(/\bprofit\b/.test(text)).toBe(role === "admin" || role === "analyst");
      expect(/\brevenue\b/.test(text)).toBe(role !== "partner");
      expect(/\bpayout\b/.test(text)).toBe(role !== "advertiser");
      expect(text.includes("Not open to this key")).toBe(
        role === "partner" || role === "advertiser",
      );
    },
  );

  test("the instructions for a key without reports.read do not mention reports", async () => {
    const { workspaceId } = world.tenant;
    const key = await insertKey(world.pool, {
      workspaceId,
      name: "narrow",
      role: "analyst",
      permissions: ["offers.read"],
    });
    const caller = callerOf(key);
    const { instructions } = await caller.result("initialize", {});
    expect(instructions).toContain("Not open to this key: run_report, list_affiliates,");
    expect(instructions).not.toContain("Dimensions");
    expect(await caller.refusal("run_report")).toMatch(/^forbidden: /);
  });
});

/** What each role may not call. Its description says so. */
const REFUSED: Readonly<Record<(typeof ROLES)[number], readonly string[]>> = {
  admin: [],
  analyst: [],
  partner: ["list_affiliates", "get_affiliate"],
  advertiser: ["list_affiliates", "get_affiliate", "tracking_link"],
};

const Listed = z.strictObject({
  tools: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string().min(1),
      description: z.string().min(20),
      inputSchema: z.strictObject({
        type: z.literal("object"),
        properties: z.record(z.string(), z.record(z.string(), z.unknown())),
        required: z.array(z.string()).optional(),
        additionalProperties: z.literal(false),
      }),
      outputSchema: z.looseObject({ type: z.literal("object") }),
      annotations: z.looseObject({ readOnlyHint: z.literal(true) }),
    }),
  ),
});

describe("tools/list", () => {
  test.each(ROLES)(
    "%s keys see the same ten tools, all of them read-only (MCP-016, MCP-017, MCP-037, T43)",
    async (role) => {
      const caller = callerOf(world.tenant.keys[role]);
      const { tools } = Listed.parse(await caller.result("tools/list"));
      expect(tools.map(({ name }) => name)).toEqual(TOOLS);
      const refused = tools.filter(({ description }) => description.startsWith("Do not call it: "));
      expect(refused.map(({ name }) => name)).toEqual(REFUSED[role]);
    },
  );

  test("arguments, bounds and required ones match the contract (MCP-018)", async () => {
    const { tools } = Listed.parse(await admin.result("tools/list"));
    const schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    const limits = tools.flatMap(({ name, inputSchema }) => {
      const limit = inputSchema.properties["limit"];
      return limit === undefined ? [] : [[name, limit["minimum"], limit["maximum"]]];
    });
    expect(limits).toEqual([
      ["run_report", 1, 1000],
      ["list_offers", 1, 200],
      ["list_affiliates", 1, 200],
      ["list_conversions", 1, 500],
      ["lookup_clicks", 1, 1000],
    ]);
    const required = tools.flatMap(({ name, inputSchema }) =>
      (inputSchema.required ?? []).map((argument) => `${name}.${argument}`),
    );
    expect(required).toEqual([
      "get_offer.id",
      "get_affiliate.id",
      "get_conversion.id",
      "tracking_link.offer",
    ]);
    const named = (name: string) => Object.keys(schemas.get(name)?.properties ?? {});
    const range = ["from", "to", "preset", "tz"];
    expect(named("whoami")).toEqual([]);
    expect(named("run_report").toSorted()).toEqual(
      [...range, "group_by", "metrics", "sort", "limit", "currency", "params"].toSorted(),
    );
    for (const name of ["list_offers", "list_affiliates"])
      expect(named(name)).toEqual(["q", "status", "limit", "cursor", "params"]);
    expect(named("list_conversions").toSorted()).toEqual(
      [...range, "status", "event", "click_id", "limit", "cursor", "params"].toSorted(),
    );
    expect(named("lookup_clicks")).toEqual(
      expect.arrayContaining([...range, "click_id", "gclid", "gbraid", "wbraid", "limit"]),
    );
    expect(named("tracking_link")).toEqual([
      "offer",
      "affiliate",
      "type",
      "sub1",
      "sub2",
      "params",
    ]);
  });

  test.each(ROLES)(
    "%s keys may report by the names that REST accepts from them (MCP-035, VIS-059)",
    async (role) => {
      const caller = callerOf(world.tenant.keys[role]);
      const { tools } = Listed.parse(await caller.result("tools/list"));
      const { group_by, metrics } = tools[1]?.inputSchema.properties ?? {};
      const names = z.looseObject({ items: z.looseObject({ enum: z.array(z.string()) }) });
      const dimensions = names.parse(group_by).items.enum;
      const measures = names.parse(metrics).items.enum;
      expect(dimensions.includes("manager")).toBe(role === "admin" || role === "analyst");
      expect(dimensions.includes("advertiser")).toBe(role !== "partner");
      expect(measures.includes("revenue")).toBe(role !== "partner");
      expect(measures.includes("payout")).toBe(role !== "advertiser");
    },
  );
});

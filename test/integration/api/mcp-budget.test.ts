import { beforeEach, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";
import { freshWindow } from "./fresh-window.ts";
import { McpCaller, rpcAnswer, rpcAnswers } from "./mcp-caller.ts";

const LIMIT = 30;

const world = await forThisFile(ApiWorld.open({ rateLimit: LIMIT }));
const admin = new McpCaller(world.origin, world.tenant.keys.admin);

beforeEach(() => freshWindow(world));

const call = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "whoami" },
});
const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

function left({ headers }: { readonly headers: Headers }): number {
  return Number(headers.get("x-ratelimit-remaining"));
}

test("MCP and REST share one budget (MCP-006)", async () => {
  expect(left(await world.get("/me"))).toBe(LIMIT - 1);
  expect(left(await admin.post(ping))).toBe(LIMIT - 2);
  expect(left(await admin.post(call(1)))).toBe(LIMIT - 3);
  expect(left(await world.get("/me"))).toBe(LIMIT - 4);
});

test("a request costs one, each further tool call of a batch one more (MCP-006, G174)", async () => {
  const batch = [call(1), ping, call(2), call(3), ping];
  const answer = await admin.post(batch);
  expect(left(answer)).toBe(LIMIT - 3);
  expect(rpcAnswers(answer)[0]?.result).toMatchObject({
    structuredContent: { data: { rate_limit: { remaining: LIMIT - 3 } } },
  });
  expect(left(await admin.post([ping, ping, ping]))).toBe(LIMIT - 4);
});

test("over the budget is HTTP 429 with -32001 and Retry-After (MCP-005, T43)", async () => {
  for (let count = 0; count < LIMIT; count += 1) expect((await admin.post(ping)).status).toBe(200);
  const answer = await admin.post(ping);
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe(answer.headers.get("x-ratelimit-reset"));
  expect(left(answer)).toBe(0);
  expect(rpcAnswer(answer)).toMatchObject({ id: null, error: { code: -32_001 } });
  expect(rpcAnswer(answer).error?.message).toMatch(/^rate_limited: /);
  expect((await world.get("/me")).status).toBe(429);
});

test("a batch over the budget is refused, and none of its tools runs (MCP-005)", async () => {
  for (let count = 0; count < LIMIT - 3; count += 1) await admin.post(ping);
  const audited = async () => {
    const { rows } = await world.pool.query<{ calls: number }>({
      text: "select count(*)::integer as calls from audit_log",
    });
    return rows[0]?.calls;
  };
  const before = await audited();
  const answer = await admin.post([call(1), call(2), call(3), call(4)]);
  expect([answer.status, rpcAnswer(answer).error?.code]).toEqual([429, -32_001]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await audited()).toBe(before);
});

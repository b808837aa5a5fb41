import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { OwnServer } from "../../system/own-server.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

/** A visitor gets one more request every 2 s. */
const LIMIT = 30;
const WAIT = { timeoutMs: 90_000 };
const AccessLine = z.looseObject({
  role: z.string(),
  rid: z.string(),
  status: z.int(),
  reason: z.string(),
});
const AnsweredLine = z.looseObject({
  msg: z.literal("request.answered"),
  request_id: z.string(),
  status: z.int(),
});
const Records = z.object({ data: z.array(z.looseObject({ id: z.int() })) });

let folder = "";
let file = "";
let system: System;
let servers: Record<"postgres" | "nats" | "clickhouse", OwnServer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tracker-refused-"));
  file = join(folder, "access.log");
  const [postgres, nats, clickhouse] = await Promise.all([
    OwnServer.open("postgres"),
    OwnServer.open("nats"),
    OwnServer.open("clickhouse"),
  ]);
  servers = { postgres, nats, clickhouse };
  system = await startSystem({
    env: {
      POSTGRES_URL: postgres.url,
      NATS_URL: nats.url,
      CLICKHOUSE_URL: clickhouse.url,
      RATE_LIMIT_PER_MINUTE: String(LIMIT),
      IP_REQUESTS_PER_MINUTE: String(LIMIT),
      ACCESS_LOG_FILE: file,
    },
  });
}, 180_000);

afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Call = { readonly url: string; readonly init?: RequestInit };

/** The answers of both listeners to a caller, by what is asked. `address` is the visitor's. */
function trackingCalls(address: string): Record<string, Call> {
  const { tracking_url: tracking, links, postback_token: token } = system.client.demo;
  const headers = { "x-forwarded-for": address };
  const get = (url: string): Call => ({ url, init: { headers, redirect: "manual" } });
  const post = (url: string, body: string): Call => ({
    url,
    init: { method: "POST", headers, body },
  });
  return {
    redirect: get(links.affiliate),
    "transparent redirect": get(`${tracking}/c/none`),
    "redirect HEAD": {
      url: links.affiliate,
      init: { method: "HEAD", headers, redirect: "manual" },
    },
    postback: get(`${tracking}/pb?token=${token}&click_id=${"0".repeat(32)}`),
    "postback by POST": post(`${tracking}/pb`, "token=x"),
    pixel: get(`${tracking}/px?click_id=${"0".repeat(32)}`),
    page: get(`${tracking}/px.html`),
    "landing page": post(`${tracking}/lp`, JSON.stringify({ click_id: "0".repeat(32) })),
    script: get(`${tracking}/sdk.js`),
    "server click": get(`${tracking}/clk`),
    "server click by POST": post(`${tracking}/clk`, "token=x"),
  };
}

function apiCalls(key: string): Record<string, Call> {
  const { base_url: api, mcp_url: mcp } = system.client.demo;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const listTools = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  return {
    REST: { url: `${api}/me`, init: { headers } },
    "REST by an unknown path": { url: `${api}/no/such/path`, init: { headers } },
    MCP: { url: mcp, init: { method: "POST", headers, body: listTools } },
  };
}

/** Asks under an ID of the proxy, and expects this status and the ID in the answer and in the access log. */
async function expectNamed(
  role: "ingress" | "api",
  { url, init }: Call,
  status: number,
): Promise<z.infer<typeof AccessLine>> {
  const requestId = `proxy-${randomUUID()}`;
  const headers = new Headers(init?.headers);
  headers.set("x-request-id", requestId);
  const answer = await fetch(url, { ...init, headers });
  await answer.arrayBuffer();
  expect([url, answer.status]).toEqual([url, status]);
  expect(answer.headers.get("x-request-id"), url).toBe(requestId);
  const line = await until(
    `${requestId} is in the access log`,
    async () => (await jsonLines(file, AccessLine)).find(({ rid }) => rid === requestId),
    WAIT,
  );
  expect(line).toMatchObject({ role, status });
  // Supervisors ask for it every second, so it has no other line.
  if (role === "ingress" || url.endsWith("/health")) return line;
  const logged = join(system.dataDir, "logs", "api.log");
  const answered = await until(
    `${requestId} is in the log of the api`,
    async () => (await jsonLines(logged, AnsweredLine)).find((one) => one.request_id === requestId),
    WAIT,
  );
  expect(answered).toMatchObject({ status });
  return line;
}

async function jsonLines<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
  const text = await readFile(path, "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .flatMap((line) => schema.safeParse(JSON.parse(line)).data ?? []);
}

/** Uses up the budget of a caller. */
async function useUp({ url, init }: Call): Promise<void> {
  for (let sent = 0; sent <= LIMIT * 2; sent += 1) {
    const answer = await fetch(url, init);
    await answer.arrayBuffer();
    if (answer.status === 429) return;
  }
  throw new Error(`${url} was never refused`);
}

describe("a 429 shows its ID and has a line under it", () => {
  test("on every path of the tracking domain (G152)", async () => {
    const calls = trackingCalls("198.51.100.9");
    await useUp(calls["script"] ?? { url: "" });
    const refused = Object.values(calls).map((call) => expectNamed("ingress", call, 429));
    for (const { reason } of await Promise.all(refused)) expect(reason).toBe("rate_limited");
  });

  test("in REST and MCP", async () => {
    const calls = apiCalls(system.client.demo.keys.analyst);
    // The minute of the budget may end in between.
    await until(
      "all are refused within one minute",
      async () => {
        await useUp(calls["REST"] ?? { url: "" });
        const atMinute = Math.floor(Date.now() / 60_000);
        for (const call of Object.values(calls)) {
          const { reason } = await expectNamed("api", call, 429);
          expect(reason).toBe("rate_limited");
        }
        return Math.floor(Date.now() / 60_000) === atMinute;
      },
      { timeoutMs: 60_000 },
    );
  }, 90_000);
});

describe("a 503 shows its ID and has a line under it", () => {
  test("without ClickHouse, in reports", async () => {
    await servers.clickhouse.stop();
    const { base_url: api, keys } = system.client.demo;
    const headers = { authorization: `Bearer ${keys.admin}` };
    const url = `${api}/reports?group_by=offer&preset=today`;
    const { reason } = await expectNamed("api", { url, init: { headers } }, 503);
    expect(reason).toBe("unavailable");
  });

  test("without NATS, in postbacks, landing pages and changes of conversions", async () => {
    const { client } = system;
    const { base_url: api, keys } = client.demo;
    const offer = Records.parse(await client.rest("/offers")).data[0];
    const partner = Records.parse(await client.rest("/affiliates")).data[0];
    await servers.nats.stop();
    const calls = trackingCalls("198.51.100.10");
    for (const name of ["postback", "postback by POST", "landing page"]) {
      const { reason } = await expectNamed("ingress", calls[name] ?? { url: "" }, 503);
      expect(reason).toBe("unavailable");
    }
    const headers = { authorization: `Bearer ${keys.admin}`, "content-type": "application/json" };
    const body = JSON.stringify({ offer_id: offer?.id, affiliate_id: partner?.id });
    const convert = { url: `${api}/conversions`, init: { method: "POST", headers, body } };
    const { reason } = await expectNamed("api", convert, 503);
    expect(reason).toBe("unavailable");
  });

  test("without Postgres, in REST, MCP and /health", async () => {
    await servers.postgres.stop();
    const { base_url: api, keys } = system.client.demo;
    for (const call of Object.values(apiCalls(keys.admin))) {
      const { reason } = await expectNamed("api", call, 503);
      expect(reason).toBe("unavailable");
    }
    const health = { url: `${new URL(api).origin}/health` };
    await until("the health is known", async () => (await fetch(health.url)).status === 503, WAIT);
    const line = await expectNamed("api", health, 503);
    expect(line["route"]).toBe("/health");
  });
});

import { expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ConversionFleet } from "../../system/conversion-fleet.ts";
import { nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const LIMIT = 600;
const CALLS = 2_000;
const PROCESSES = 4;
const ROUNDS = IS_FULL ? 5 : 1;
/** All calls of a round must fall into one window, which is a minute of the database's clock. */
const LATEST_SECOND = 20;
const IN_FLIGHT = 200;
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

test("600 of 2,000 parallel calls are served over four processes, REST and MCP together (P32, #24)", async (context) => {
  await using fleet = await ConversionFleet.open(0);
  const { world } = fleet;
  const origins: string[] = [];
  for (let i = 0; i < PROCESSES; i += 1) {
    const port = await freePort();
    const env = { API_PORT: String(port), RATE_LIMIT_PER_MINUTE: String(LIMIT) };
    fleet.add(nodeProgram("api"), env);
    origins.push(`http://127.0.0.1:${port}`);
  }
  for (const origin of origins) {
    await until("the API answers", async () => (await fetch(`${origin}/health`)).ok, {
      timeoutMs: 60_000,
    });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const key = await insertKey(world.pool, {
      workspaceId: world.workspaceId,
      name: `round ${round}`,
      role: "admin",
    });
    const window = await earlyInWindow(world.pool);
    const statuses: number[] = [];
    const numbers = Array.from({ length: CALLS }, (_, i) => i).values();
    const send = async (): Promise<void> => {
      for (const i of numbers) statuses.push(await call(origins[i % PROCESSES] ?? "", i, key));
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, send));
    expect(await windowNow(world.pool), "all calls fell into one window").toBe(window);
    const served = statuses.filter((status) => status === 200).length;
    const refused = statuses.filter((status) => status === 429).length;
    reportCases(context, { cases: CALLS, violations: Math.abs(served - LIMIT) });
    expect([served, refused]).toEqual([LIMIT, CALLS - LIMIT]);
  }
});

/** Half of the calls are REST, half MCP. */
async function call(origin: string, i: number, key: string): Promise<number> {
  const isMcp = Math.floor(i / PROCESSES) % 2 === 0;
  const answer = await fetch(`${origin}${isMcp ? "/mcp" : "/api/v1/me"}`, {
    method: isMcp ? "POST" : "GET",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      ...(isMcp ? { "content-type": "application/json" } : {}),
    },
    ...(isMcp ? { body: PING } : {}),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Waits for the first seconds of a window. Returns its minute. */
async function earlyInWindow(db: Pool): Promise<string> {
  return await until(
    "a window has just begun",
    async () => {
      const { rows } = await db.query<{ second: number }>({
        text: "select extract(second from now())::integer as second",
      });
      return (rows[0]?.second ?? 60) <= LATEST_SECOND && (await windowNow(db));
    },
    { timeoutMs: 60_000, pollMs: 250 },
  );
}

async function windowNow(db: Pool): Promise<string> {
  const { rows } = await db.query<{ minute: string }>({
    text: "select date_trunc('minute', now())::text as minute",
  });
  return rows[0]?.minute ?? "";
}

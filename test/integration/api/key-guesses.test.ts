import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { insertKey } from "../../../api/access/insert-key.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld, refusal } from "./api-world.ts";
import { freshWindow } from "./fresh-window.ts";
import { McpCaller } from "./mcp-caller.ts";

const LIMIT = 20;
const GUESSES = 100;
const statements: string[] = [];

const world = await forThisFile(ApiWorld.open({ rateLimit: LIMIT }));
const { pool: db } = world;
const counted: Pool = {
  ...db,
  query: async (statement) => {
    statements.push(statement.name ?? "");
    return await db.query(statement);
  },
};
const origin = await world.startAnother({ rateLimit: LIMIT, db: counted });

function madeUp(): string {
  return `trk_live_${randomBytes(20).toString("hex")}`;
}

async function guess(): Promise<void> {
  const answer = await world.callAt(origin, "GET", "/me", { key: madeUp() });
  expect(refusal(answer)).toBe("401 invalid_api_key");
  expect(answer.headers.get("x-ratelimit-limit")).toBe(String(LIMIT));
}

test("guessed keys cost Postgres at most their address's budget, and real keys work (#16)", async () => {
  await freshWindow(world);
  for (let guesses = 0; guesses < LIMIT; guesses += 1) await guess();
  statements.length = 0;
  for (let guesses = 0; guesses < GUESSES; guesses += 1) await guess();
  const mcp = await new McpCaller(origin, madeUp()).post({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(mcp.status).toBe(401);
  const named = (name: string): number => statements.filter((one) => one === name).length;
  expect([named("find-api-key"), named("count-requests")]).toEqual([0, 0]);
  // At most one a second of the statement that reads whether a key may exist.
  expect(named("read-key-marks")).toBeLessThan(GUESSES);

  // From the same address: a used key, an unused one, and one created now.
  const { keys, workspaceId } = world.tenant;
  const newest = await insertKey(world.pool, { workspaceId, name: "newest", role: "admin" });
  for (const key of [keys.admin, keys.partner])
    expect((await world.callAt(origin, "GET", "/me", { key })).status).toBe(200);
  await expect
    .poll(async () => (await world.callAt(origin, "GET", "/me", { key: newest })).status)
    .toBe(200);
});

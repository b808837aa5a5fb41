import assert from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { z } from "zod";

import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const TEST_MS = 300_000;
const KILLS = IS_FULL ? 40 : 6;
/** As long as the command takes, about. */
const COMMAND_MS = 2_500;
const POSTED_MS = 30_000;

const Balances = z.object({
  data: z.array(z.looseObject({ owner_name: z.string(), currency: z.string() })),
});
const Listed = z.object({ data: z.array(z.looseObject({ status: z.string() })) });

test("a month-end that is killed leaves all or nothing, and a second one changes nothing (I1, I8)", {
  timeout: TEST_MS,
}, async () => {
  await using system = await startSystem();
  await convert(system);
  // Killed at moments that the seed draws, in the middle of a conversion's way to the ledger too.
  for (let kill = 0; kill < KILLS; kill += 1) {
    await run(system, ((SEED + kill * 977) % COMMAND_MS) + 1);
    const { data } = Listed.parse(await system.client.rest("/payout-runs"));
    expect([0, 2]).toContain(data.length);
  }
  expect(await run(system)).toMatch(/Two closed months|left as it is/);
  await convert(system);
  await until("both conversions are posted", async () => await hasBoth(system), {
    timeoutMs: POSTED_MS,
  });
  const before = await state(system);
  expect(await run(system)).toContain("left as it is");
  expect(await state(system)).toEqual(before);
  expect(await system.client.rest("/billing/audit")).toMatchObject({ data: { violations: [] } });
});

/** A click of the demo, and its order. */
async function convert({ client }: System): Promise<void> {
  const { links, tracking_url: tracking, postback_token: token } = client.demo;
  const { headers } = await client.attempt(links.affiliate);
  const click = /[0-9a-f]{32}/.exec(String(headers["location"]))?.[0] ?? "";
  const answer = await client.attempt(`${tracking}/pb?token=${token}&click_id=${click}`);
  expect(answer.status).toBe(200);
}

/** Runs the command, killed after a while if it is still there. Answers what it printed. */
async function run({ dataDir }: System, killAfterMs?: number): Promise<string> {
  const program = projectFile(".build", "api", "tracker.js");
  const child = spawn(process.execPath, [program, "demo", "month-end"], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = Promise.all([text(child.stdout), once(child, "close")]);
  if (killAfterMs !== undefined) {
    await Promise.race([pause(killAfterMs), ended]);
    child.kill("SIGKILL");
  }
  const [printed] = await ended;
  assert(
    killAfterMs !== undefined || child.exitCode === 0,
    `the command ended with ${String(child.exitCode)}`,
  );
  return printed;
}

/** What a second run must not change. */
async function state({ client }: System): Promise<unknown[]> {
  const lists = ["/balances", "/statements", "/payout-runs", "/adjustments", "/ledger?limit=200"];
  return await Promise.all(lists.map(async (path) => await client.rest(path)));
}

async function hasBoth({ client }: System): Promise<boolean> {
  const { data } = Balances.parse(await client.rest("/balances?currency=USD"));
  // Two of 12, one from before billing was switched on, beside the bonus of the present month.
  return data.some(
    ({ owner_name: name, unbilled }) => name === "Anna's blog" && unbilled === "49.0000",
  );
}

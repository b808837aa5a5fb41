import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import {
  canariesInLogs,
  keysInTables,
  type Looked,
  sendCanaries,
  watchSubjects,
} from "../../promises/leaks/canaries.ts";
import { LeakWorld } from "../../promises/leaks/leak-world.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { killJob } from "../../system/processes.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 50 : 5;

let world: LeakWorld;
let subjects: Awaited<ReturnType<typeof watchSubjects>>;

beforeAll(async () => {
  world = await LeakWorld.open();
  subjects = await watchSubjects(world);
  const admin = await world.makeWorkspace("first");
  await world.addAccount(admin, "ownword");
  for (let round = 0; round < ROUNDS; round += 1) {
    await sendCanaries(world);
    // A process is most likely to log a value when its connections break.
    if (round === 1) await killJob(world.system.dataDir, "processors");
    if (round === 2) await killJob(world.system.dataDir, "postgres");
    if (round === 3) await killJob(world.system.dataDir, "nats");
  }
  await until(
    "the service answers again",
    async () => {
      const { tracking_url: tracking, postback_token: token } = world.system.client.demo;
      const answer = await fetch(`${tracking}/pb?token=${token}&click_id=${"0".repeat(32)}`);
      return answer.status === 200;
    },
    { timeoutMs: 60_000 },
  );
});

afterAll(async () => {
  await subjects.close();
  await world.close();
});

function expectNothing(context: TestContext, looked: Looked, countMin: number): void {
  const found = looked.filter((one) => one.found.length > 0);
  reportCases(context, { cases: looked.length, violations: found.length });
  expect(looked.length).toBeGreaterThan(countMin);
  expect(found).toEqual([]);
}

test("keys are stored only as hashes (P31, #24)", async (context) => {
  expectNothing(context, await keysInTables(world), 20);
});

test("no log has a key, token, e-mail, phone, address or query string, even after kills (P31, #24)", async (context) => {
  expectNothing(context, await canariesInLogs(world), 4);
});

test("no message subject has personal data or a secret (P31, #24)", (context) => {
  expectNothing(context, subjects.looked(), 5);
});

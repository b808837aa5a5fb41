import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { runFaults } from "../../replay/faults.ts";
import { replay } from "../../replay/replay.ts";
import { findProcesses, type Job } from "../../system/processes.ts";
import { type System, startSystem } from "../../system/start-system.ts";

const LOG = projectFile("..", "shared", "data", "web-access.log.gz");
/** Every reason must occur; otherwise the traffic would not have exercised that rule. */
const REASONS = [
  "redirect",
  "redirect forwarded",
  "redirect fail_route",
  "redirect cap_over",
  "redirect cap",
  "fallback paused",
  "fallback not_approved",
  "fallback targeting",
  "fallback cap",
  "fallback traffic_control",
  "fallback duplicate",
  "fallback no_match",
  "blocked not_allowed",
];
/** Enough for every reason to occur. */
const CALM_LINES = IS_FULL ? 1_000 : 600;
const JOBS: readonly Job[] = ["ingress", "processors", "api", "clickhouse", "nats", "postgres"];

/** The storm lasts 17 s, so that each of the three kinds of processes is killed once. */
const STORM = IS_FULL
  ? { ratePerSecond: 150, linesMax: 2_500 }
  : { ratePerSecond: 50, linesMax: 850 };

/** Each of the three kinds twice, or in the full run five times. */
const KILLS_MAX = IS_FULL ? 15 : 6;

let system: System;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system[Symbol.asyncDispose]());

test("every rule judges real traffic, which is stored once and reported exactly, even across kills", {
  timeout: 360_000,
}, async () => {
  const printed: string[] = [];
  const options = {
    dataDir: system.dataDir,
    share: 0.2,
    seed: "e2e",
    say: (line: string): void => void printed.push(line),
  };
  const log = existsSync(LOG) ? LOG : projectFile("test", "samples", "access.log");
  const calm = await replay({ ...options, log, ratePerSecond: 400, linesMax: CALM_LINES });
  expect(calm.differences, printed.join("\n")).toEqual([]);
  expect(calm.beyondCaps).toBe(0);
  for (const reason of REASONS) expect([...calm.byReason.keys()]).toContain(reason);
  const stormy = await replay({
    ...options,
    log,
    ratePerSecond: log === LOG ? STORM.ratePerSecond : 20,
    linesMax: STORM.linesMax,
    seed: "e2e-storm",
    disturb: () => runFaults(system.dataDir, options.say, KILLS_MAX),
  });
  expect(stormy.differences, printed.join("\n")).toEqual([]);
  expect(printed.filter((line) => line.includes("kill -9")).length).toBeGreaterThanOrEqual(3);
});

test("Ctrl-C ends every process, and a second start keeps all data", async () => {
  const before = await system.client.rest("/offers");
  expect(await system.stop()).toBe(0);
  for (const job of JOBS) expect(await findProcesses(system.dataDir, job), job).toEqual([]);
  system = await startSystem({ dataDir: system.dataDir });
  expect(await system.client.rest("/offers")).toEqual(before);
});

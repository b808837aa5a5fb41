import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { runFaults } from "../replay/faults.ts";
import { replay } from "../replay/replay.ts";
import { findProcesses, type Job } from "../system/processes.ts";
import { startSystem } from "../system/start-system.ts";

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
const JOBS: readonly Job[] = ["ingress", "processors", "api", "clickhouse", "nats", "postgres"];

test("every rule judges real traffic, which is stored once and reported exactly, even across kills", async () => {
  await using system = await startSystem();
  const printed: string[] = [];
  const options = {
    dataDir: system.dataDir,
    share: 0.2,
    seed: "e2e",
    say: (line: string): void => void printed.push(line),
  };
  const log = existsSync(LOG) ? LOG : projectFile("test", "samples", "access.log");
  const calm = await replay({ ...options, log, ratePerSecond: 400, linesMax: 1_000 });
  expect(calm.differences, printed.join("\n")).toEqual([]);
  expect(calm.beyondCaps).toBe(0);
  for (const reason of REASONS) expect([...calm.byReason.keys()]).toContain(reason);
  const stormy = await replay({
    ...options,
    log,
    ratePerSecond: log === LOG ? 150 : 20,
    linesMax: 2_500,
    seed: "e2e-storm",
    disturb: () => runFaults(system.dataDir, options.say),
  });
  expect(stormy.differences, printed.join("\n")).toEqual([]);
  expect(printed.filter((line) => line.includes("kill -9")).length).toBeGreaterThanOrEqual(3);
});

test("Ctrl-C ends every process, and a second start keeps all data", async () => {
  await using first = await startSystem();
  const before = await first.client.rest("/offers");
  expect(await first.stop()).toBe(0);
  for (const job of JOBS) expect(await findProcesses(first.dataDir, job), job).toEqual([]);
  await using second = await startSystem({ dataDir: first.dataDir });
  expect(await second.client.rest("/offers")).toEqual(before);
});

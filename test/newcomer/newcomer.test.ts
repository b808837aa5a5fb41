import { expect, test } from "vitest";
import { forThisFile } from "../services/for-this-file.ts";
import { findProcesses, type Job } from "../system/processes.ts";
import { startSystem } from "../system/start-system.ts";
import { followFirstSteps } from "./first-steps.ts";
import { describeGuide, describeReceivers } from "./guide-tests.ts";
import { runReadmeLines } from "./readme-lines.ts";

/** The README runs a dozen commands, each a process of its own. */
const README_MS = 300_000;
const JOBS: readonly Job[] = ["ingress", "processors", "api", "clickhouse", "nats", "postgres"];

/** What somebody has who cloned the project: an empty folder. */
const env = { ALLOW_PRIVATE_DESTINATIONS: "1" };
const system = await forThisFile(startSystem({ isEmpty: true, env }));

test("the README's first steps and commands run as they stand", {
  timeout: README_MS,
}, async () => {
  const { host } = new URL(system.client.demo.tracking_url);
  expect(await runReadmeLines(system)).toContain(`domain share ${host} --with third`);
});

test("the reference page's first steps set up a working network (ADV-009, AUTH-025, OFF-057)", async () => {
  expect(await followFirstSteps(system)).toBeGreaterThan(10);
});

describeGuide(system);

// Go compiles its standard library: test/deep/e2e/guide-receiver-go.test.ts.
describeReceivers(system, ["ts", "python", "php"]);

test("Ctrl-C ends every process, and a second start keeps all data", {
  timeout: README_MS,
}, async () => {
  const before = await system.client.rest("/offers");
  expect(await system.stop()).toBe(0);
  for (const job of JOBS)
    expect([job, await findProcesses(system.dataDir, job)]).toEqual([job, []]);
  await using again = await startSystem({ dataDir: system.dataDir, env });
  expect(await again.client.rest("/offers")).toEqual(before);
});

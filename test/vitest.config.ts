import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./longest-first.ts";
import { passedGlobs } from "./promises/figures/passed-globs.ts";
import { PromiseReporter } from "./promises/figures/promise-reporter.ts";
import { aloneGlobs } from "./promises/promise-list.ts";
import { IS_FULL } from "./promises/report-cases.ts";
import { openRunFolder } from "./run-folder.ts";
import { SlowestFiles } from "./slowest-files.ts";
import { TallyReporter } from "./tally-reporter.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** `npm run promises` repeats each promise as often as schemas/contract/promises.md demands; CI repeats it less. */
const promiseTimeoutMs = IS_FULL ? 120 * MINUTE_MS : 5 * MINUTE_MS;

/** With PROMISES_MISSING=1 an interrupted full run continues: promises that have passed are not run again. */
const continues = process.env["PROMISES_MISSING"] === "1";
if (continues && !process.env["SEED"]) {
  throw new Error("PROMISES_MISSING=1 needs the SEED of the interrupted run");
}

// Every random test takes its choices from this seed; the processes that run the tests inherit it.
if (!process.env["SEED"]) {
  process.env["SEED"] = String(Date.now() % 1_000_000_000);
  process.stderr.write(`SEED=${process.env["SEED"]}\n`);
}

// Only test/deploy/drain.test.ts waits for balancers to leave a process, and for journals to be stored.
process.env["DRAIN_SECONDS"] ||= "0";
process.env["DRAIN_STORED_SECONDS"] ||= "0";

openRunFolder();

const passed = continues ? passedGlobs({ seed: process.env["SEED"] }) : [];
const alone = aloneGlobs(IS_FULL);

/**
 * The files of these projects share the modules of their worker: no test replaces a module, a global or a variable of the environment.
 * Loading them anew for each file took 70 % of the processor time of the unit tests.
 */
const shared = { isolate: false } as const;

const promises = {
  testTimeout: promiseTimeoutMs,
  // Some send all of their load in a hook.
  hookTimeout: IS_FULL ? 60 * MINUTE_MS : 5 * MINUTE_MS,
};

export default defineConfig({
  root: resolve(import.meta.dirname, ".."),
  test: {
    // The smallest machine this runs on has two cores, and the servers under test need some of them.
    maxWorkers: 2,
    // A flaky test is a bug.
    retry: 0,
    sequence: { sequencer: LongestFirst },
    setupFiles: [
      resolve(import.meta.dirname, "system/processor-time.ts"),
      resolve(import.meta.dirname, "system/seed-fast-check.ts"),
      resolve(import.meta.dirname, "system/failure-logs.ts"),
    ],
    reporters: ["default", new TallyReporter(), new PromiseReporter(), new SlowestFiles()],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: "unit",
          include: [
            "{ingress,processors,api,schemas,deploy}/**/*.test.ts",
            "test/{bench,replay,requirements,samples,services,system}/**/*.test.ts",
            "test/promises/*/*.test.ts",
          ],
          // A unit test takes less than a second. The limit allows for other work on the machine: at a load of 16 on two
          // cores, a test of 0.4 s exceeded a limit of one second.
          testTimeout: 5 * SECOND_MS,
          hookTimeout: 5 * SECOND_MS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "architecture",
          include: ["test/architecture/**/*.test.ts"],
          testTimeout: MINUTE_MS,
          hookTimeout: MINUTE_MS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: [resolve(import.meta.dirname, "services/global-setup.ts")],
          testTimeout: 30 * SECOND_MS,
          hookTimeout: 2 * MINUTE_MS,
          // Many of them wait for leases, restarts and outages: with two workers 40 % of the processor time was unused.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 2 * MINUTE_MS,
          // The first start on a machine downloads a server.
          hookTimeout: 5 * MINUTE_MS,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: [resolve(import.meta.dirname, "browser/global-setup.ts")],
          testTimeout: 30 * SECOND_MS,
          // The first file waits for the start of the whole service.
          hookTimeout: 5 * MINUTE_MS,
          fileParallelism: false,
          sequence: { groupOrder: 6 },
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: "deploy",
          include: ["test/deploy/**/*.test.ts"],
          testTimeout: 2 * MINUTE_MS,
          hookTimeout: 5 * MINUTE_MS,
          // Last: when no time is left, the results of all others are known.
          runner: resolve(import.meta.dirname, "time-left-runner.ts"),
          sequence: { groupOrder: 7 },
        },
      },
      {
        extends: true,
        test: {
          ...promises,
          ...shared,
          name: "promises",
          include: ["test/promises/*.test.ts"],
          exclude: [...configDefaults.exclude, ...alone, ...passed],
          // Most of them wait for outages and leases. Each has servers of its own, so killing them disturbs no other.
          maxWorkers: 3,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          ...promises,
          ...shared,
          name: "promises-alone",
          include: alone,
          exclude: [...configDefaults.exclude, ...passed],
          // Any other load would change their figures.
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});

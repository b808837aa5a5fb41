import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { passedGlobs } from "./promises/figures/passed-globs.ts";
import { PromiseReporter } from "./promises/figures/promise-reporter.ts";
import { aloneGlobs, type PromiseFolder } from "./promises/promise-list.ts";
import { IS_FULL } from "./promises/report-cases.ts";
import { HANG_MS } from "./system/until.ts";
import { DeepReporter } from "./tiers/deep-reporter.ts";
import { LongestFirst } from "./tiers/longest-first.ts";
import { openRunFolder } from "./tiers/run-folder.ts";
import { SlowestFiles } from "./tiers/slowest-files.ts";
import { TallyReporter } from "./tiers/tally-reporter.ts";

const MINUTE_MS = 60_000;

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

// Only test/deep/deploy/drain.test.ts waits for balancers to leave a process, and for journals to be stored.
process.env["DRAIN_SECONDS"] ||= "0";
process.env["DRAIN_STORED_SECONDS"] ||= "0";

// Their servers sync nothing to the disk. Tests about durability say `strict` themselves.
process.env["DURABILITY"] ||= "relaxed";

// No test asks a server on the internet for reference rates.
process.env["FX_FEED_URL"] ||= "off";

const here = (...path: readonly string[]): string => resolve(import.meta.dirname, ...path);

/** Node imports the sources itself, here and in each worker. */
const SOURCES = here("../.build/test/system/sources/register.js");
if (!existsSync(SOURCES)) throw new Error("Run `npm run --silent build` first.");
await import(pathToFileURL(SOURCES).href);
openRunFolder();

const passed = continues ? passedGlobs({ seed: process.env["SEED"] }) : [];
const alone = aloneGlobs(IS_FULL);

/**
 * The files of these projects share the modules of their worker: no test replaces a module, a global or a variable of the environment.
 * Loading them anew for each file took 70 % of the processor time of the unit tests.
 */
const shared = { isolate: false } as const;

/** Tests of one part on the shared servers of the run. */
const integration = {
  ...shared,
  globalSetup: [here("services/global-setup.ts")],
  testTimeout: 2 * MINUTE_MS,
  hookTimeout: 2 * MINUTE_MS,
  // Many of them wait for leases, restarts and outages: with two workers 40 % of the processor time was unused.
  maxWorkers: 3,
};

const browser = {
  ...shared,
  globalSetup: [here("browser/global-setup.ts")],
  // The steps of a test end by themselves (HANG_MS) and say what they waited for. This ends a test that goes round in circles.
  testTimeout: 10 * MINUTE_MS,
  // The first file waits for the start of the whole service.
  hookTimeout: 10 * MINUTE_MS,
};

/** Measures times and sizes of the console. */
const BUDGET = "test/deep/browser/console/console-budget.test.ts";

/** Tests that start the whole service or servers of their own. */
const whole = {
  ...shared,
  globalSetup: [here("services/prepare-ingress.ts")],
  testTimeout: 2 * MINUTE_MS,
  // The first start on a machine downloads a server.
  hookTimeout: 5 * MINUTE_MS,
};

const promises = {
  ...shared,
  globalSetup: [here("services/global-setup.ts")],
  testTimeout: promiseTimeoutMs,
  // Some send all of their load in a hook.
  hookTimeout: IS_FULL ? 60 * MINUTE_MS : 5 * MINUTE_MS,
};

/** The promises of a folder: most run three at a time, each with servers of its own; those that compare times run alone. */
function promiseProjects(
  folder: PromiseFolder,
  options: { prefix: string; groupOrder: number; runner?: string },
) {
  const { prefix, groupOrder, ...runner } = options;
  const ofFolder = `${folder}/*.test.ts`;
  const aloneHere = alone.map((glob) => glob.replace("{promises,deep/promises}", folder.slice(5)));
  return [
    {
      extends: true as const,
      test: {
        ...promises,
        ...runner,
        name: `${prefix}promises`,
        include: [ofFolder],
        exclude: [...configDefaults.exclude, ...alone, ...passed],
        // Most of them wait for outages and leases.
        maxWorkers: 3,
        sequence: { groupOrder },
      },
    },
    {
      extends: true as const,
      test: {
        ...promises,
        ...runner,
        name: `${prefix}promises-alone`,
        include: aloneHere,
        exclude: [...configDefaults.exclude, ...passed],
        // Any other load would change their figures.
        fileParallelism: false,
        sequence: { groupOrder: groupOrder + 1 },
      },
    },
  ];
}

/** What the folder test/deep has: a run of CI that has no time left leaves files out. */
const deep = { runner: here("tiers/time-left-runner.ts") };

export default defineConfig({
  root: here(".."),
  test: {
    // The smallest machine this runs on has two cores, and the servers under test need some of them.
    maxWorkers: 2,
    // A flaky test is a bug.
    retry: 0,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--enable-source-maps", "--import", SOURCES],
    // Vitest's own limit of a second is shorter than what the tests wait for takes on a busy machine.
    expect: { poll: { timeout: HANG_MS } },
    sequence: { sequencer: LongestFirst },
    setupFiles: [
      here("system/processor-time.ts"),
      here("system/seed-fast-check.ts"),
      here("system/failure-logs.ts"),
    ],
    reporters: [
      "default",
      new TallyReporter(),
      new PromiseReporter(),
      new DeepReporter(),
      new SlowestFiles(),
    ],
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: "unit",
          include: [
            "{ingress,processors,api,schemas,deploy}/**/*.test.ts",
            "test/{bench,replay,requirements,samples,services,system,tiers}/**/*.test.ts",
            "test/{promises,deep/promises}/*/*.test.ts",
          ],
          // A unit test takes less than a second of processor time (tiers/budget.ts). This ends one that hangs: at a load of 13 on two
          // cores, a test of 0.4 s exceeded a limit of five seconds.
          testTimeout: MINUTE_MS,
          hookTimeout: MINUTE_MS,
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
          ...integration,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          ...whole,
          name: "newcomer",
          include: ["test/newcomer/**/*.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...whole,
          name: "storm",
          include: ["test/storm/**/*.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      ...promiseProjects("test/promises", { prefix: "", groupOrder: 4 }),
      {
        extends: true,
        test: {
          ...browser,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...whole,
          name: "deploy",
          include: ["test/deploy/**/*.test.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...integration,
          ...deep,
          // With three workers a fifth of the processor time was unused: 355 s, now 303.
          maxWorkers: 4,
          name: "deep-integration",
          include: ["test/deep/integration/**/*.test.ts"],
          sequence: { groupOrder: 8 },
        },
      },
      {
        extends: true,
        test: {
          ...whole,
          ...deep,
          maxWorkers: 4,
          name: "deep-e2e",
          include: ["test/deep/e2e/**/*.test.ts"],
          // Beside the others, so that only one end of the two has idle workers.
          sequence: { groupOrder: 8 },
        },
      },
      ...promiseProjects("test/deep/promises", { prefix: "deep-", groupOrder: 10, ...deep }),
      {
        extends: true,
        test: {
          ...browser,
          ...deep,
          name: "deep-browser",
          // They wait for pages: with two workers a fifth of the processor time was unused. With four, all of it was used for waiting: 736 s
          // instead of 692.
          maxWorkers: 3,
          include: ["test/deep/browser/**/*.test.ts"],
          exclude: [...configDefaults.exclude, BUDGET],
          sequence: { groupOrder: 12 },
        },
      },
      {
        extends: true,
        test: {
          ...browser,
          ...deep,
          name: "deep-browser-alone",
          include: [BUDGET],
          sequence: { groupOrder: 14 },
        },
      },
      {
        extends: true,
        test: {
          ...whole,
          ...deep,
          name: "deep-deploy",
          // They wait for starts, leases and outages: with two workers a quarter of the processor time was unused.
          maxWorkers: 3,
          include: ["test/deep/{deploy,clickhouse-cluster}/**/*.test.ts"],
          sequence: { groupOrder: 13 },
        },
      },
    ],
  },
});

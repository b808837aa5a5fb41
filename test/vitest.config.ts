import { resolve } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./longest-first.ts";
import { passedGlobs } from "./promises/figures/passed-globs.ts";
import { PromiseReporter } from "./promises/figures/promise-reporter.ts";
import { aloneGlobs } from "./promises/promise-list.ts";
import { IS_FULL } from "./promises/report-cases.ts";
import { TallyReporter } from "./tally-reporter.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** `npm run promises` repeats each promise as often as schemas/contract/promises.md asks for; CI repeats it less. */
const promiseTimeoutMs = IS_FULL ? 120 * MINUTE_MS : 5 * MINUTE_MS;

/** With PROMISES_MISSING=1 a full run that was interrupted goes on: what it has shown is not run again. */
const goesOn = process.env["PROMISES_MISSING"] === "1";
if (goesOn && !process.env["SEED"]) {
  throw new Error("PROMISES_MISSING=1 needs the SEED of the run that goes on");
}

// Every random test takes its choices from this seed; the processes that run the tests inherit it.
process.env["SEED"] ||= String(Date.now() % 1_000_000_000);

// Tests ask an ingress on its tracking port how far it is; only test/e2e/private-run.test.ts runs with the default.
process.env["FACTS_ON_TRACKING_PORT"] ||= "1";

const passed = goesOn ? passedGlobs({ seed: process.env["SEED"] }) : [];
const alone = aloneGlobs(IS_FULL);

const promises = {
  setupFiles: [resolve(import.meta.dirname, "promises/seed-fast-check.ts")],
  testTimeout: promiseTimeoutMs,
  // Some put all of their load into what their tests share.
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
    reporters: ["default", new TallyReporter(), new PromiseReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "{ingress,processors,api,schemas,deploy}/**/*.test.ts",
            "test/{bench,replay,requirements,samples,services,system}/**/*.test.ts",
            "test/promises/*/*.test.ts",
          ],
          // A unit test takes less than a second. The limit is for a machine on which
          // others work too: at a load of 16 on two cores a test of 0.4 s was ended by a limit of one second.
          testTimeout: 5 * SECOND_MS,
          hookTimeout: 5 * SECOND_MS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
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
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: [resolve(import.meta.dirname, "services/global-setup.ts")],
          testTimeout: 30 * SECOND_MS,
          hookTimeout: 2 * MINUTE_MS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 2 * MINUTE_MS,
          // The first start on a machine downloads a server.
          hookTimeout: 5 * MINUTE_MS,
          // Each file starts the whole service: one after another.
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
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
          ...promises,
          name: "promises",
          include: ["test/promises/*.test.ts"],
          exclude: [...configDefaults.exclude, ...alone, ...passed],
          // Most of them wait, for outages and leases, and each has servers of its own: what one kills, no other misses.
          maxWorkers: 3,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          ...promises,
          name: "promises-alone",
          include: alone,
          exclude: [...configDefaults.exclude, ...passed],
          // What runs beside them would be in their figures.
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});

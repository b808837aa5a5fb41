import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { freezeJobs, type Job, keepDown } from "../../system/processes.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

/** How soon `tracker status` must tell that a part is dead. */
const TOLD_MS = 10_000;
/** Each try is a process that loads the whole program. */
const RECOVERY = { timeoutMs: 90_000, pollMs: 1_500 };
const WIDTH = 100;
const LINES = ["clicks", "journal", "lanes", "stores", "audit"] as const;
type Name = (typeof LINES)[number];
const PROCESSES = 3;

let system: System;

beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system[Symbol.asyncDispose]());

type Status = { readonly code: number; readonly lines: Readonly<Record<Name, string>> };

async function status(): Promise<Status> {
  const { code, output } = await trackerCommand(system.dataDir, ["status"]);
  const lines = output.trimEnd().split("\n");
  expect(lines.map((line) => line.split(" ")[0])).toEqual([...LINES]);
  for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(WIDTH);
  const [clicks = "", journal = "", lanes = "", stores = "", audit = ""] = lines;
  return { code, lines: { clicks, journal, lanes, stores, audit } };
}

async function untilWell(): Promise<Status> {
  let last: Status | undefined;
  try {
    return await until(
      "status is well",
      async () => {
        last = await status();
        return last.code === 0 && last;
      },
      RECOVERY,
    );
  } catch (error) {
    throw new Error(JSON.stringify(last, null, 2), { cause: error });
  }
}

const Figures = z.looseObject({
  exit_code: z.int(),
  clicks: z.looseObject({ answered_per_second: z.number(), unrecorded: z.literal(0) }),
  journal: z.looseObject({ producers: z.literal(1), silent: z.tuple([]) }),
  lanes: z.looseObject({
    lanes: z.array(z.looseObject({ process: z.string(), lease_holds: z.literal(true) })).length(5),
  }),
  stores: z.looseObject({ stream: z.looseObject({ replicas: z.literal(1) }) }),
  processes: z.array(z.looseObject({ role: z.string(), answers: z.literal(true) })),
});

test("a sound service is exit code 0, with every process, lane and store in its line", async () => {
  const { lines } = await untilWell();
  expect(lines.clicks).toMatch(/\d\/s answered · \d+\/s stored · .* unrecorded 0 · lost 0$/);
  expect(lines.journal).toMatch(/1 producer · /);
  expect(lines.lanes).toContain("0-3,100 ");
  expect(lines.stores).toMatch(/stream R1, .* · postgres · clickhouse 26/);
  expect(lines.audit).toContain(`${PROCESSES} of 0.1.0`);
  expect(Object.values(lines).join()).not.toMatch(/[?←]/);
  const { code, output } = await trackerCommand(system.dataDir, ["status", "--json"]);
  const figures = Figures.parse(JSON.parse(output));
  expect(figures.exit_code).toBe(code);
  expect(figures.processes.map(({ role }) => role).sort()).toEqual([
    "api",
    "ingress",
    "processors",
  ]);
});

type Death = {
  readonly exit: number;
  /** What each line with a fault says. All other lines have none. */
  readonly faults: Readonly<Partial<Record<Name, RegExp>>>;
  /** What no line may say while the part is dead. */
  readonly counted: RegExp;
};

const DEATHS: readonly (readonly [Job, Death])[] = [
  [
    "ingress",
    {
      exit: 1,
      faults: {
        clicks: /\?\/s answered .*ingress-\d+ \? .*← degraded$/,
        journal: /0 producers · \? of \? GB.*← degraded$/,
      },
      counted: /\d\/s answered|1 producer |oldest unstored \d|unrecorded \d|3 of 0\.1\.0/,
    },
  ],
  [
    "processors",
    {
      exit: 1,
      faults: {
        clicks: /\?\/s stored.*← degraded$/,
        lanes: /0-3,100 \? nobody · \S+ \? .*← degraded$/,
      },
      counted: /\d\/s stored|lanes? equal|3 of 0\.1\.0/,
    },
  ],
  [
    "api",
    { exit: 1, faults: { audit: /no api · api-\d+ \? .*← degraded$/ }, counted: /3 of 0\.1\.0/ },
  ],
  [
    "nats",
    {
      exit: 3,
      // The processes are asked on their operations ports.
      faults: { stores: /stream \? away.*← cannot tell$/ },
      counted: /stream R/,
    },
  ],
  [
    "postgres",
    {
      exit: 3,
      faults: { stores: /postgres \? away.*← cannot tell$/ },
      counted: /lost \d|postgres ·|facts (equal|differ)/,
    },
  ],
  [
    "clickhouse",
    {
      exit: 1,
      faults: { stores: /clickhouse \? away.*← degraded$/ },
      counted: /clickhouse \d/,
    },
  ],
];

test.each(DEATHS)(
  "a dead %s is told within 10 s, by its line, and no line counts it",
  async (job, { exit, faults, counted }) => {
    await untilWell();
    const startAgain = await keepDown(system, job);
    const { code, lines } = await until(
      `status tells that ${job} is dead`,
      async () => {
        const now = await status();
        return now.code !== 0 && now;
      },
      { timeoutMs: TOLD_MS },
    ).finally(startAgain);
    const all = Object.values(lines).join("\n");
    expect(code, all).toBe(exit);
    for (const name of LINES) {
      expect(lines[name], all).toMatch(faults[name] ?? /^[^←]*$/);
    }
    expect(all).not.toMatch(counted);
  },
);

const FROZEN: readonly (readonly Job[])[] = [
  ["nats"],
  ["postgres"],
  ["clickhouse"],
  ["nats", "postgres", "clickhouse"],
];

test.each(FROZEN.map((jobs) => ({ jobs, names: jobs.join(", ") })))(
  "status and doctor end within 15 s while these stand still, and say so: $names (#37)",
  async ({ jobs }) => {
    await untilWell();
    const goOn = await freezeJobs(system, jobs);
    try {
      const told = await until(
        "status tells it",
        async () => {
          const now = await timed(status);
          return now.result.code !== 0 && now;
        },
        { timeoutMs: 60_000 },
      );
      expect(told.seconds).toBeLessThan(15);
      const stores = told.result.lines.stores;
      for (const job of jobs) expect(stores).toContain(`${job === "nats" ? "stream" : job} ? away`);
      const looked = await timed(
        async () => await trackerCommand(system.dataDir, ["doctor", "--strict"]),
      );
      expect(looked.seconds).toBeLessThan(15);
      expect(looked.result.code).toBe(1);
    } finally {
      goOn();
    }
  },
);

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAtMs = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - startedAtMs) / 1_000 };
}

test("status is well again after the last death, as it was after each of the others", async () => {
  expect((await untilWell()).code).toBe(0);
});

test("status of a folder where nothing runs cannot tell: exit code 3", async () => {
  const { code, output } = await trackerCommand("/nowhere", ["status"]);
  expect(code).toBe(3);
  expect(output).toContain("POSTGRES_URL");
});

/**
 * Seconds of processor time that `npm test` may take on two cores, of each vitest project: one and a half times what a quiet machine measured
 * (test/README.md). More in all than 12 minutes of both cores have, and the second command of the README would take longer than anybody waits.
 */
export const PART_SECONDS_MAX: Readonly<Record<string, number>> = {
  unit: 60,
  architecture: 45,
  integration: 360,
  newcomer: 80,
  storm: 135,
  promises: 110,
  browser: 75,
  deploy: 75,
};

/** For a file that is not named below. Unit tests need no server. */
const FILE_SECONDS_MAX = 20;
const UNIT_FILE_SECONDS_MAX = 10;

/** Each starts one whole service, and stands for the files that would start one each. */
const FILE_SECONDS: Readonly<Record<string, number>> = {
  "test/newcomer/newcomer.test.ts": 80,
  "test/storm/storm.test.ts": 135,
  "test/promises/p30-nothing-leaks.test.ts": 45,
};

export type Cost = {
  /** A vitest project. */
  readonly project: string;
  /** A test file, from the root of the project. */
  readonly name: string;
  readonly processorSeconds: number;
  /** Processor time of always the same work, measured before the file (`system/processor-time.ts`). */
  readonly yardstickMs: number;
};

/** What the yardstick took, in the median of all files, on the machine for which the budgets were measured. */
export const YARDSTICK_MS = 6;

/** With so many files of a project, their median says how fast the machine was while the project ran. */
const FILES_MIN = 5;

/**
 * Above so many times its budget something fails the run; below, it is named only. Other programs on the machine lengthen some work more than the
 * yardstick: in CI one tree took 325 and 592 s for the same integration tests.
 */
export const FAILS_FROM = 1.5;

/**
 * What takes more than `times` its budget, as sentences. Files of the deep tier, whose projects have no budget, are not looked at. On a slower
 * machine, or one that other programs keep busy, the same work takes more processor time: budgets are multiplied by how much more the yardstick
 * took there.
 */
export function overBudget(costs: readonly Cost[], times = 1): string[] {
  const everyday = costs.filter(({ project }) => Object.hasOwn(PART_SECONDS_MAX, project));
  const ofRun = slownessOf(everyday);
  return Object.entries(PART_SECONDS_MAX).flatMap(([project, projectSecondsMax]) => {
    const files = everyday.filter((cost) => cost.project === project);
    const slowness = files.length < FILES_MIN ? ofRun : Math.max(ofRun, slownessOf(files));
    const factor = times * slowness;
    const seconds = files.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
    return [
      ...files.flatMap(({ name, processorSeconds }) => {
        const secondsMax = project === "unit" ? UNIT_FILE_SECONDS_MAX : FILE_SECONDS_MAX;
        return sentences(name, processorSeconds, factor * (FILE_SECONDS[name] ?? secondsMax));
      }),
      ...sentences(`project ${project}`, seconds, factor * projectSecondsMax),
    ];
  });
}

/** How many times as much processor time as on the machine of the budgets the same work took, and at least 1. */
export function slownessOf(costs: readonly Cost[]): number {
  const sorted = costs.map(({ yardstickMs }) => yardstickMs).toSorted((a, b) => a - b);
  return Math.max(1, (sorted[Math.floor(sorted.length / 2)] ?? 0) / YARDSTICK_MS);
}

function sentences(name: string, seconds: number, secondsMax: number): string[] {
  if (seconds <= secondsMax) return [];
  return [
    `${name} took ${seconds.toFixed(0)} s of processor time, and may take ${secondsMax.toFixed(0)} s in \`npm test\``,
  ];
}

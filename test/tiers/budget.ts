/**
 * Seconds of processor time that `npm test` may take on two cores, of each vitest project: one and a half times what a quiet machine measured
 * (test/README.md). More in all than 12 minutes of both cores have, and the second command of the README would take longer than anybody waits.
 */
export const PART_SECONDS_MAX: Readonly<Record<string, number>> = {
  unit: 60,
  architecture: 45,
  integration: 480,
  newcomer: 80,
  storm: 135,
  promises: 165,
  browser: 75,
  deploy: 75,
};

/** Of a file that is not named below. Unit tests need no server. */
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
};

/** The same work takes a third more processor time when other programs want the cores all the time. */
const BUSY_SHARE = 0.95;
const BUSY_FACTOR = 1.5;

/**
 * What takes more than its budget, as sentences. Files of projects without a budget, those of the deep tier, are not looked at. `busyShare`: how
 * much of the time the cores worked.
 */
export function overBudget(costs: readonly Cost[], busyShare: number): string[] {
  const factor = busyShare > BUSY_SHARE ? BUSY_FACTOR : 1;
  const everyday = costs.filter(({ project }) => Object.hasOwn(PART_SECONDS_MAX, project));
  const files = everyday.flatMap(({ project, name, processorSeconds }) => {
    const secondsMax = project === "unit" ? UNIT_FILE_SECONDS_MAX : FILE_SECONDS_MAX;
    return sentences(name, processorSeconds, factor * (FILE_SECONDS[name] ?? secondsMax));
  });
  const parts = Object.entries(PART_SECONDS_MAX).flatMap(([part, secondsMax]) => {
    const seconds = everyday
      .filter(({ project }) => project === part)
      .reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
    return sentences(`project ${part}`, seconds, factor * secondsMax);
  });
  return [...files, ...parts];
}

function sentences(name: string, seconds: number, secondsMax: number): string[] {
  if (seconds <= secondsMax) return [];
  return [
    `${name} took ${seconds.toFixed(0)} s of processor time, and may take ${secondsMax} s in \`npm test\``,
  ];
}

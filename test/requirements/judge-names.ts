import { z } from "zod";

/** Full names of the tests of one vitest run, with the names of their groups. */
export const TestNames = z.object({ passed: z.array(z.string()), skipped: z.array(z.string()) });
export type TestNames = z.infer<typeof TestNames>;

/** The newest result of a deep test file. */
export type DeepProof = {
  readonly file: string;
  /** Full names of the tests that passed in it. */
  readonly names: readonly string[];
  /** Why the result proves nothing: it is red, or older than its limit. */
  readonly fault?: string | undefined;
};

const REQUIREMENT = /\b[A-Z]{2,4}-\d{3}\b/g;

/**
 * Whether each requirement stands in the name of a test that passed, in these runs or in a deep result within its limit, and a line that
 * says so. A requirement that stands only in the names of tests that this machine skips is listed, and is no fault: lint refuses tests
 * that every machine skips.
 */
export function judgeNames(
  ids: readonly string[],
  runs: readonly TestNames[],
  deep: readonly DeepProof[] = [],
): { readonly isMet: boolean; readonly line: string } {
  const passed = idsIn(runs.flatMap((run) => run.passed));
  const skipped = idsIn(runs.flatMap((run) => run.skipped));
  const sound = deep.filter(({ fault }) => fault === undefined);
  const deeper = idsIn(sound.flatMap(({ names }) => names));
  const required = ids.filter((id) => id.match(REQUIREMENT) !== null);
  const open = required.filter((id) => !passed.has(id));
  const onlyDeep = open.filter((id) => deeper.has(id));
  const unproven = open.filter((id) => !deeper.has(id));
  const refused = unproven.flatMap((id) => {
    const found = deep.find(({ names, fault }) => fault !== undefined && idsIn(names).has(id));
    return found?.fault === undefined ? [] : [{ id, place: `${found.file} (${found.fault})` }];
  });
  const rest = unproven.filter((id) => !refused.some((one) => one.id === id));
  const unnamed = rest.filter((id) => !skipped.has(id));
  const skippedHere = rest.filter((id) => skipped.has(id));
  const parts = [
    `Requirements: ${required.length - unproven.length} of ${required.length} are in the name of a test that passed`,
    ...(onlyDeep.length > 0 ? [`${onlyDeep.length} of them in a deep result`] : []),
    ...(skippedHere.length > 0 ? [`skipped here: ${skippedHere.join(", ")}`] : []),
    ...refused.map(({ id, place }) => `${id} only in ${place}`),
    ...(unnamed.length > 0 ? [`in no such name: ${unnamed.join(", ")}`] : []),
  ];
  const isMet = required.length > 0 && unnamed.length === 0 && refused.length === 0;
  return { isMet, line: parts.join("; ") };
}

function idsIn(names: readonly string[]): Set<string> {
  return new Set(names.flatMap((name) => name.match(REQUIREMENT) ?? []));
}

import { z } from "zod";

/** Full names of the tests of one vitest run, with the names of their groups. */
export const TestNames = z.object({ passed: z.array(z.string()), skipped: z.array(z.string()) });
export type TestNames = z.infer<typeof TestNames>;

const REQUIREMENT = /\b[A-Z]{2,4}-\d{3}\b/g;

/**
 * Whether each requirement stands in the name of a test that passed, and a line that says so. A requirement that stands only in the
 * names of tests that this machine skips is listed, and is no fault: lint refuses tests that every machine skips.
 */
export function judgeNames(
  ids: readonly string[],
  runs: readonly TestNames[],
): { readonly isMet: boolean; readonly line: string } {
  const named = (outcome: keyof TestNames): Set<string> =>
    new Set(runs.flatMap((run) => run[outcome]).flatMap((name) => name.match(REQUIREMENT) ?? []));
  const [passed, skipped] = [named("passed"), named("skipped")];
  const required = ids.filter((id) => id.match(REQUIREMENT) !== null);
  const open = required.filter((id) => !passed.has(id));
  const unnamed = open.filter((id) => !skipped.has(id));
  const skippedHere = open.filter((id) => skipped.has(id));
  const parts = [
    `Requirements: ${required.length - open.length} of ${required.length} are in the name of a test that passed`,
    ...(skippedHere.length > 0 ? [`skipped here: ${skippedHere.join(", ")}`] : []),
    ...(unnamed.length > 0 ? [`in no such name: ${unnamed.join(", ")}`] : []),
  ];
  return { isMet: required.length > 0 && unnamed.length === 0, line: parts.join("; ") };
}

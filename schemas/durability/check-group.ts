import { within } from "../host/within.ts";
import type { CheckId, Finding } from "./finding.ts";
import { refuses } from "./finding.ts";

/** Checks that are answered together, because they ask the same server. */
export type CheckGroup = {
  readonly checks: readonly CheckId[];
  /** Who is asked, for a sentence. */
  readonly server: string;
  /** @throws when the server is away or refuses a question. */
  readonly ask: () => Promise<readonly Finding[]>;
  /** The code with which the server refused a question; undefined when it is away. */
  readonly refusalOf: (error: unknown) => string | undefined;
};

/**
 * The findings of a group within `patienceMs`; never throws. A server that is away leaves its checks unknown. A server that refuses to
 * answer counts as violating them, because nobody can tell that it does not.
 */
export async function answerOf(group: CheckGroup, patienceMs: number): Promise<Finding[]> {
  try {
    const answer = await within(patienceMs, group.ask());
    if (answer !== "late") return [...answer];
    return unknown(group, `${group.server} does not answer within ${patienceMs} ms`);
  } catch (error) {
    const refusal = group.refusalOf(error);
    if (refusal === undefined) return unknown(group, `${group.server} does not answer`);
    return group.checks.map((check) => ({
      check,
      faults: [
        refuses(
          `${group.server} refuses the question of this check (${refusal}): allow our user to read it, or run \`tracker migrate\` if something is missing there.`,
        ),
      ],
    }));
  }
}

function unknown({ checks }: CheckGroup, missing: string): Finding[] {
  return checks.map((check) => ({ check, faults: [], missing }));
}

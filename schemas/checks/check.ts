import type { Clickhouse, ClickhouseReader } from "../clickhouse/connect.ts";
import { within } from "../host/within.ts";
import type { NatsOptions } from "../nats/connect.ts";
import type { Queryable } from "../postgres/connect.ts";
import { type Judgement, refuses } from "./finding.ts";
import type { HostFacts } from "./judge-host.ts";
import type { JournalDisk } from "./judge-journal.ts";
import type { ProcessFacts } from "./judge-processes.ts";
import type { SecretKeyFacts } from "./judge-secret-keys.ts";

/** How strict an installation is, as its settings say. */
export type DurabilitySettings = {
  readonly level: "relaxed" | "strict";
  /** One copy of each stream is enough: there is one host. */
  readonly singleSite: boolean;
  /** Standbys of Postgres that a commit must wait for. */
  readonly standbys: number;
  readonly natsSystemUrl: string | undefined;
  readonly natsMonitorUrls: readonly string[];
};

/** What a process or a command can ask. A check that needs something that is not here is left out. */
export type Sources = {
  readonly durability: DurabilitySettings;
  readonly nats?: Pick<NatsOptions, "url" | "access" | "prefix" | "groups">;
  /** The pool of the process: PgBouncer may treat each connection differently. */
  readonly db?: Queryable;
  readonly clickhouse?: ClickhouseReader;
  /** Only of who writes clicks. */
  readonly clickWriter?: Clickhouse | undefined;
  readonly journal?: () => Promise<JournalDisk>;
  readonly processes?: () => Promise<ProcessFacts>;
  /** Where each server is, by its name in a sentence: whoever reads that nobody answers has to go there. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly host?: () => Promise<HostFacts>;
  readonly secretKeys?: () => Promise<SecretKeyFacts>;
};

/** Checks with the same question share its answer. */
export type Question<Facts> = {
  /** Who is asked, for a sentence. */
  readonly server: string;
  /** Undefined where `sources` lack what it needs. @throws when the server is away or refuses. */
  readonly ask: (sources: Sources) => Promise<Facts> | undefined;
  /** The code with which the server refused; undefined when it is away. */
  readonly refusalOf: (error: unknown) => string | undefined;
};

/**
 * Where a check is judged: at the start of a strict process and every minute from then on, by `tracker status` and the console, by `tracker
 * doctor`.
 */
export type Place = "start" | "status" | "doctor";

export type Check<Facts = unknown> = {
  /** The metric, pages, runbooks and scripts name it: it never changes. */
  readonly id: string;
  readonly ask: Question<Facts>;
  /** Pure. A method, so that checks of all facts are in one list. */
  judge(facts: Facts, rules: DurabilitySettings): Judgement;
  /** What to do next, in the imperative, without a full stop. */
  readonly remedy: string;
  readonly at: readonly Place[];
};

/** Checks of one question, by their ids. */
export function checksOf<Facts>(
  ask: Question<Facts>,
  at: readonly Place[],
  checks: Readonly<Record<string, Pick<Check<NoInfer<Facts>>, "judge" | "remedy">>>,
): Check<Facts>[] {
  return Object.entries(checks).map(([id, check]) => ({ id, ask, at, ...check }));
}

export type Finding = Judgement & { readonly check: Check };

/**
 * Asks each question once and judges all checks, within `patienceMs`; never throws. A server that is away leaves its checks unknown. A server
 * that refuses to answer counts as violating them, because nobody can tell that it does not.
 */
export async function findingsOf(
  checks: readonly Check[],
  sources: Sources,
  patienceMs: number,
): Promise<Finding[]> {
  const answers = new Map<Question<unknown>, Promise<Answer | undefined>>();
  const findings = checks.map(async (check) => {
    const answer = answers.get(check.ask) ?? answerTo(check.ask, sources, patienceMs);
    answers.set(check.ask, answer);
    return findingOf(check, await answer, sources.durability);
  });
  return (await Promise.all(findings)).filter((finding) => finding !== undefined);
}

type Answer =
  | { readonly facts: unknown }
  | { readonly missing: string }
  | { readonly refused: string };

async function answerTo(
  { server: name, ask, refusalOf }: Question<unknown>,
  sources: Sources,
  patienceMs: number,
): Promise<Answer | undefined> {
  const host = sources.hosts?.[name];
  const server = host === undefined ? name : `${name} at ${host}`;
  try {
    const asked = ask(sources);
    if (asked === undefined) return undefined;
    const facts = await within(patienceMs, asked);
    return facts === "late"
      ? { missing: `${server} does not answer within ${patienceMs} ms` }
      : { facts };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) return { missing: `${server} does not answer` };
    return {
      refused: `${server} refuses the question of this check (${refusal}): allow our user to read it, or run \`tracker migrate\` if something is missing there.`,
    };
  }
}

function findingOf(
  check: Check,
  answer: Answer | undefined,
  rules: DurabilitySettings,
): Finding | undefined {
  if (answer === undefined) return undefined;
  if ("missing" in answer) return { check, faults: [], missing: answer.missing };
  if ("refused" in answer) return { check, faults: [refuses(answer.refused)] };
  const judgement = check.judge(answer.facts, rules);
  const faults = judgement.faults.map((fault) => ({
    ...fault,
    sentence: fault.sentence.endsWith(".") ? fault.sentence : `${fault.sentence}: ${check.remedy}.`,
  }));
  return { ...judgement, faults, check };
}

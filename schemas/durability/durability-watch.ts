import { type RisingWaits, risingWaitMs } from "../host/backoff.ts";
import type { Log } from "../host/log.ts";
import type { Metrics } from "../host/metrics.ts";
import { pause } from "../host/pause.ts";
import { answerOf, type CheckGroup } from "./check-group.ts";
import { type CheckId, type Finding, isViolated } from "./finding.ts";

/** Every process ends with this code when `DURABILITY=strict` does not hold at its start. */
export const EXIT_NOT_DURABLE = 4;

/** What a strict start refuses. `message` has one line for each violation. */
export class NotDurableError extends Error {
  override readonly name = "NotDurableError";
  readonly violations: readonly string[];

  constructor(violations: readonly string[]) {
    super(violations.join("\n"));
    this.violations = violations;
  }
}

const START_PATIENCE_MS = 2_500;
const PATIENCE_MS = 10_000;
const PERIOD_MS = 60_000;
/** A server that is away is asked again soon, so that its checks are made as soon as it is back. */
const AWAY_WAITS: RisingWaits = { firstMs: 500, longestMs: 5_000 };

/**
 * Repeats the checks of a strict process every minute. Once the process runs, a violation never stops it, because visitors come
 * first: it is logged, and `durability_violation` is 1 for its check.
 */
export class DurabilityWatch {
  readonly #groups: readonly CheckGroup[];
  readonly #log: Log;
  readonly #end = new AbortController();
  readonly #findings = new Map<CheckId, Finding>();
  /** The last line logged for each check. */
  readonly #logged = new Map<CheckId, string>();
  #done: Promise<unknown> = Promise.resolve();

  constructor(groups: readonly CheckGroup[], log: Log, metrics: Metrics) {
    this.#groups = groups;
    this.#log = log.child({ component: "durability" });
    metrics.gauges("durability_violation", () =>
      [...this.#findings.values()].flatMap((finding) => {
        const violated = isViolated(finding);
        return violated === undefined ? [] : [[{ check: finding.check }, Number(violated)]];
      }),
    );
  }

  /** Makes every check once, and repeats them from then on. @throws {NotDurableError} if one of them refuses the start. */
  async start(): Promise<void> {
    const answers = await Promise.all(
      this.#groups.map(async (group) => ({
        group,
        findings: await answerOf(group, START_PATIENCE_MS),
      })),
    );
    const all = answers.flatMap(({ findings }) => findings);
    for (const finding of all) this.#note(finding);
    const refused = all.flatMap(({ check, faults }) =>
      faults
        .filter(({ weight }) => weight === "refuses")
        .map(({ sentence }) => `${check}: ${sentence}`),
    );
    if (refused.length > 0) throw new NotDurableError(refused);
    this.#done = Promise.all(
      answers.map(({ group, findings }) => this.#repeat(group, isIncomplete(findings))),
    );
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #repeat(group: CheckGroup, wasIncomplete: boolean): Promise<void> {
    let failures = wasIncomplete ? 1 : 0;
    for (;;) {
      const waitMs = failures === 0 ? PERIOD_MS : risingWaitMs(AWAY_WAITS, failures);
      await pause(waitMs, this.#end.signal);
      if (this.#end.signal.aborted) return;
      const findings = await answerOf(group, PATIENCE_MS);
      for (const finding of findings) this.#note(finding);
      failures = isIncomplete(findings) ? failures + 1 : 0;
    }
  }

  /** Logs what differs from the last finding of the check. */
  #note(finding: Finding): void {
    const { check, faults, missing } = finding;
    this.#findings.set(check, finding);
    const line = JSON.stringify([faults, missing]);
    const last = this.#logged.get(check);
    if (line === last) return;
    this.#logged.set(check, line);
    for (const { weight, sentence } of faults) {
      if (weight === "warns") this.#log.warn({ check, reason: sentence }, "durability.warning");
      else this.#log.error({ check, reason: sentence }, "durability.violated");
    }
    if (missing !== undefined) this.#log.warn({ check, reason: missing }, "durability.unknown");
    else if (faults.length === 0 && last !== undefined) {
      this.#log.info({ check }, "durability.restored");
    }
  }
}

function isIncomplete(findings: readonly Finding[]): boolean {
  return findings.some(({ missing }) => missing !== undefined);
}

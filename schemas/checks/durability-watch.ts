import { type RisingWaits, risingWaitMs } from "../host/backoff.ts";
import type { Lifetime } from "../host/lifetime.ts";
import type { Log } from "../host/log.ts";
import type { Metrics } from "../host/metrics.ts";
import { pause } from "../host/pause.ts";
import { DURABILITY_CHECKS } from "../host/process-metrics.ts";
import { OtherSchemaError } from "../versions/judge-schema.ts";
import { type Check, type Finding, findingsOf, type Sources } from "./check.ts";
import { isViolated } from "./finding.ts";

/** What a strict start refuses. `message` has one line for each violation. */
export class NotDurableError extends Error {
  override readonly name = "NotDurableError";
  readonly violations: readonly string[];

  constructor(violations: readonly string[]) {
    super(violations.join("\n"));
    this.violations = violations;
  }
}

const EXIT_OTHER_SCHEMA = 3;
const EXIT_NOT_DURABLE = 4;

/** With what a process ends that did not start. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof NotDurableError) return EXIT_NOT_DURABLE;
  return error instanceof OtherSchemaError ? EXIT_OTHER_SCHEMA : 1;
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
  readonly #checks: readonly Check[];
  readonly #sources: Sources;
  readonly #log: Log;
  readonly #end = new AbortController();
  readonly #findings = new Map<string, Finding>();
  /** The last line logged for each check. */
  readonly #logged = new Map<string, string>();
  #done: Promise<unknown> = Promise.resolve();

  constructor(
    checks: readonly Check[],
    sources: Sources,
    { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
  ) {
    this.#checks = checks;
    this.#sources = sources;
    this.#log = log.child({ component: "durability" });
    metrics.gauges("durability_violation", () =>
      DURABILITY_CHECKS.flatMap((check) => {
        const finding = this.#findings.get(check);
        const violated = finding && isViolated(finding);
        return violated === undefined ? [] : [[{ check }, Number(violated)]];
      }),
    );
  }

  /** Makes every check once, and repeats them from then on. @throws {NotDurableError} if one of them refuses the start. */
  async start(): Promise<void> {
    const findings = await this.#look(this.#checks, START_PATIENCE_MS);
    const refused = findings.flatMap(({ check: { id }, faults }) =>
      faults
        .filter(({ weight }) => weight === "refuses")
        .map(({ sentence }) => `${id}: ${sentence}`),
    );
    if (refused.length > 0) throw new NotDurableError(refused);
    const questions = new Set(findings.map(({ check }) => check.ask));
    this.#done = Promise.all(
      [...questions].map((question) =>
        this.#repeat(findings.filter(({ check }) => check.ask === question)),
      ),
    );
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  /** Asks one question again and again. */
  async #repeat(first: readonly Finding[]): Promise<void> {
    const checks = first.map(({ check }) => check);
    let failures = isIncomplete(first) ? 1 : 0;
    for (;;) {
      const waitMs = failures === 0 ? PERIOD_MS : risingWaitMs(AWAY_WAITS, failures);
      await pause(waitMs, this.#end.signal);
      if (this.#end.signal.aborted) return;
      failures = isIncomplete(await this.#look(checks, PATIENCE_MS)) ? failures + 1 : 0;
    }
  }

  async #look(checks: readonly Check[], patienceMs: number): Promise<Finding[]> {
    const findings = await findingsOf(checks, this.#sources, patienceMs);
    for (const finding of findings) this.#note(finding);
    return findings;
  }

  /** Logs what differs from the last finding of the check. */
  #note(finding: Finding): void {
    const { faults, missing } = finding;
    const { id: check } = finding.check;
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

/**
 * Makes the checks that a strict process makes, now and from then on; a relaxed process makes none. An ingress hands over only checks that it can
 * ask, so that it does not load the client of ClickHouse. @throws {NotDurableError}
 */
export async function requireDurability(
  sources: Sources,
  {
    checks,
    log,
    metrics,
    lifetime,
  }: {
    readonly checks: readonly Check[];
    readonly log: Log;
    readonly metrics: Metrics;
    readonly lifetime: Lifetime;
  },
): Promise<void> {
  if (sources.durability.level === "relaxed") return;
  const atStart = checks.filter(({ at }) => at.includes("start"));
  const watch = new DurabilityWatch(atStart, sources, { log, metrics });
  lifetime.own("durability", () => watch.close());
  await watch.start();
}

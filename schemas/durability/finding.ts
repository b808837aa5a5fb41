import type { DURABILITY_CHECKS } from "../host/process-metrics.ts";

/**
 * The checks of `DURABILITY=strict`. NATS: N1 sync, N2 streams, N3 version. Postgres: P1 commits, P2 tables, P3 standby. ClickHouse: C1
 * tables, C2 repeated inserts, C3 replicas. J1 the journal's disk, I1 whether the stores belong together.
 */
export type CheckId = (typeof DURABILITY_CHECKS)[number];

/**
 * - `refuses`: a wrong configuration. A strict process does not start with it.
 * - `alerts`: a condition that can pass by itself, such as a standby that restarts. It raises the metric and stops no start, because
 *   visitors must be answered meanwhile.
 * - `warns`: allowed, but less durable than it could be.
 */
export type Fault = {
  readonly weight: "refuses" | "alerts" | "warns";
  /** What is wrong, why that matters and what to do, in one sentence. */
  readonly sentence: string;
};

/** The answer of one check. Without faults and complete, the check is passed. */
export type Finding = {
  readonly check: CheckId;
  readonly faults: readonly Fault[];
  /** Why a part of the answer is unknown: a server is away. Undefined when all of it is known. */
  readonly missing?: string;
};

export function refuses(sentence: string): Fault {
  return { weight: "refuses", sentence };
}

export function alerts(sentence: string): Fault {
  return { weight: "alerts", sentence };
}

export function warns(sentence: string): Fault {
  return { weight: "warns", sentence };
}

/** Whether a rule of strict durability is broken; undefined while that is unknown. */
export function isViolated({ faults, missing }: Finding): boolean | undefined {
  if (faults.some(({ weight }) => weight !== "warns")) return true;
  return missing === undefined ? false : undefined;
}

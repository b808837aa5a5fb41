/**
 * - `refuses`: a wrong configuration. A strict process does not start with it.
 * - `alerts`: a condition that can pass by itself, such as a standby that restarts. It raises the metric and stops no start, because
 *   visitors must be answered meanwhile.
 * - `warns`: allowed, but less durable than it could be.
 */
export type Fault = {
  readonly weight: "refuses" | "alerts" | "warns";
  /** What is wrong, why that matters and what to do. A sentence without a full stop ends with the remedy of the check. */
  readonly sentence: string;
  /** The same in a few words, for `tracker status`. */
  readonly brief?: string;
};

/** Without faults and complete, the check is passed. */
export type Judgement = {
  readonly faults: readonly Fault[];
  /** Why a part of the answer is unknown: a server is away. Undefined when all of it is known. */
  readonly missing?: string;
  /** What a passed check has to say, for `tracker doctor`. */
  readonly well?: string;
};

export function refuses(sentence: string, brief?: string): Fault {
  return { weight: "refuses", sentence, ...(brief === undefined ? {} : { brief }) };
}

/** A fault for each rule that is broken. */
export function refusals(...rules: readonly (readonly [boolean, string])[]): Fault[] {
  return rules.flatMap(([isBroken, sentence]) => (isBroken ? [refuses(sentence)] : []));
}

export function alerts(sentence: string): Fault {
  return { weight: "alerts", sentence };
}

export function warns(sentence: string): Fault {
  return { weight: "warns", sentence };
}

/** Whether a rule is broken; undefined while that is unknown. */
export function isViolated({ faults, missing }: Judgement): boolean | undefined {
  if (faults.some(({ weight }) => weight !== "warns")) return true;
  return missing === undefined ? false : undefined;
}

import type { Finding } from "../../../schemas/durability/finding.ts";

/** One line of `tracker doctor`. Only `refuse` makes its exit code 1. */
export type ReportLine = {
  readonly state: "ok" | "warn" | "refuse";
  /** What was looked at: one of the checks of DURABILITY=strict, or a word. */
  readonly subject: string;
  /** What was found and, unless it is well, what to do. */
  readonly text: string;
};

/** The lines of one check. Without `isStrict`, what strict would refuse is only a warning. */
export function linesOf({ check, faults, missing }: Finding, isStrict: boolean): ReportLine[] {
  const lines = faults.map(({ weight, sentence }): ReportLine => {
    const state = weight === "warns" || !isStrict ? "warn" : "refuse";
    return { state, subject: check, text: sentence };
  });
  if (missing !== undefined) {
    const text = `${missing}, so this check is unknown: start it, or correct its address.`;
    lines.push({ state: "refuse", subject: check, text });
  }
  return lines.length > 0 ? lines : [{ state: "ok", subject: check, text: "passed" }];
}

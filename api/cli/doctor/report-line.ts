import type { Finding } from "../../../schemas/checks/check.ts";

/** One line of `tracker doctor`. Only `refuse` makes its exit code 1. */
export type ReportLine = {
  readonly state: "ok" | "warn" | "refuse";
  /** What was looked at: the id of a check, or a word. */
  readonly subject: string;
  /** What was found and, unless it is well, what to do. */
  readonly text: string;
};

/** Without `isStrict`, what only a strict start would refuse is a warning. */
export function linesOf(
  { check, faults, missing, well = "passed" }: Finding,
  isStrict: boolean,
): ReportLine[] {
  const isOfStart = check.at.includes("start");
  const subject = check.id;
  const lines = faults.map(({ weight, sentence }): ReportLine => {
    const isWarning = weight === "warns" || (isOfStart && !isStrict);
    return { state: isWarning ? "warn" : "refuse", subject, text: sentence };
  });
  if (missing !== undefined) {
    const text = `${missing}, so this check is unknown: start it, or correct its address.`;
    // The checks of a start name each server that is away; other checks say once more what is not known.
    lines.push({ state: isOfStart ? "refuse" : "warn", subject, text });
  }
  return lines.length > 0 ? lines : [{ state: "ok", subject, text: well }];
}

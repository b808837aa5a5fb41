import type { Recorded } from "../route.ts";

const NO_MONEY = "0.0000";

/**
 * The JSON line of a record (`ClickBatch.lines`): fields at their default are left out, which halves it. A test holds it to the
 * zod schema.
 */
export function encodeRecord(record: Recorded["record"]): string {
  let line = "";
  for (const [name, value] of Object.entries(record)) {
    if (value === "" || value === 0 || value === false || value === NO_MONEY) continue;
    line += `${line === "" ? "{" : ","}"${name}":${typeof value === "string" ? JSON.stringify(value) : String(value)}`;
  }
  return `${line === "" ? "{" : line}}`;
}

import type { FieldFaults } from "../../operation/operation.ts";

/** Checks that `ends_at` is after `starts_at`. */
export function periodFaults(values: Readonly<Record<string, unknown>>): FieldFaults {
  const { starts_at: starts, ends_at: ends } = values;
  if (typeof starts !== "string" || typeof ends !== "string") return {};
  return Date.parse(ends) <= Date.parse(starts)
    ? { ends_at: "expected a time after starts_at" }
    : {};
}

import type { components } from "../../../../../.build/console/openapi.ts";

export type Conversion = components["schemas"]["Conversion"];

/** An amount by the name of its field; undefined if the role may not see it. */
export function amountOf(row: Conversion, name: string): string | undefined {
  const value = new Map<string, unknown>(Object.entries(row)).get(name);
  return typeof value === "string" ? value : undefined;
}

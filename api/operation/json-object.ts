export type Json = Record<string, unknown>;

/** The members of a JSON object; an empty object for any other value. */
export function asObject(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}

/** A JSON string; "" for any other value. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

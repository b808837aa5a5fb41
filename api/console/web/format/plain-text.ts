/** A value of any kind as people read it: texts and numbers as they are, anything else as JSON. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

/** The fields of a record, one a line, for a person. */
export function fieldLines(fields: Readonly<Record<string, unknown>>): string {
  const width = Math.max(0, ...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${written(value)}`.trimEnd())
    .join("\n");
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

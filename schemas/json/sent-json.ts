import { JSON_LEVELS_MAX, type JsonBounds, type JsonExcess, scanJson } from "./json-bounds.ts";

/** Of a report to the tracking domain: a flat object, of which at most 200 parameters are kept. */
export const REPORT_BOUNDS: JsonBounds = { values: 300 };
/** Of a record in a file: an offer with all its lists. */
export const RECORD_BOUNDS: JsonBounds = { values: 20_000 };

/** JSON with more in it than its reader can use. */
export class JsonExcessError extends Error {
  override readonly name = "JsonExcessError";

  constructor(excess: JsonExcess, bounds: JsonBounds) {
    super(`the JSON ${describeExcess(excess, bounds)}`);
  }
}

/** As the end of a sentence about the text. */
export function describeExcess({ kind }: JsonExcess, { values }: JsonBounds): string {
  switch (kind) {
    case "levels":
      return `is nested more than ${JSON_LEVELS_MAX} levels deep`;
    case "values":
      return `has more than ${values} values`;
    case "fields":
      return "has too many unknown fields";
  }
}

/**
 * Parses JSON that a caller sent. Its depth is limited, so that whatever walks the value may recurse.
 * @throws {JsonExcessError}
 * @throws {SyntaxError} for text that is no JSON.
 */
export function parseSentJson(text: string, bounds: JsonBounds): unknown {
  const { excess } = scanJson(new TextEncoder().encode(text), bounds);
  if (excess !== undefined) throw new JsonExcessError(excess, bounds);
  return JSON.parse(text);
}

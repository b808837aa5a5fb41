import { JSON_LEVELS_MAX, type JsonBounds, type JsonExcess, scanJson } from "./json-bounds.ts";
import { digitsKept, numbersAsTexts } from "./number-texts.ts";

/** For a report to the tracking domain: a flat object; at most 200 of its parameters are kept. */
export const REPORT_BOUNDS: JsonBounds = { values: 300 };
/** For a record in a file: an offer with all its lists. */
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
 * Parses JSON that a caller sent. Its depth is limited, so that whatever walks the value may recurse. A whole number that a float would
 * change becomes a text with its digits (G218).
 * @throws {JsonExcessError}
 * @throws {SyntaxError} for text that is no JSON.
 */
export function parseSentJson(text: string, bounds: JsonBounds): unknown {
  const value = parseBounded(text, bounds);
  const kept = digitsKept(text, NO_FIELDS);
  return kept === text ? value : JSON.parse(kept);
}

/**
 * As {@link parseSentJson}, with every number as a text with its own digits: whoever reads only texts loses no digit (G218).
 * @throws {JsonExcessError}
 * @throws {SyntaxError} for text that is no JSON.
 */
export function parseSentTexts(text: string, bounds: JsonBounds): unknown {
  // Numbers are written as texts only in what is JSON: otherwise {1:2} would become JSON.
  const value = parseBounded(text, bounds);
  const texts = numbersAsTexts(text);
  return texts === text ? value : JSON.parse(texts);
}

const NO_FIELDS: ReadonlySet<string> = new Set();

function parseBounded(text: string, bounds: JsonBounds): unknown {
  const { excess } = scanJson(new TextEncoder().encode(text), bounds);
  if (excess !== undefined) throw new JsonExcessError(excess, bounds);
  return JSON.parse(text);
}

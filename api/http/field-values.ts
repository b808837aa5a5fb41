import { z } from "zod";
import { JsonExcessError, parseSentJson, RECORD_BOUNDS } from "../../schemas/json/sent-json.ts";

/** What a body field accepts, as far as it matters for converting text to its value. */
export type FieldKind = {
  readonly type: "text" | "flag" | "number" | "list" | "object";
  readonly isNullable: boolean;
};

const Described = z.looseObject({
  type: z.string().optional(),
  anyOf: z.array(z.looseObject({ type: z.string().optional() })).optional(),
});
const DescribedBody = z.looseObject({ properties: z.record(z.string(), Described) });

const TYPES: Readonly<Record<string, FieldKind["type"]>> = {
  boolean: "flag",
  integer: "number",
  number: "number",
  array: "list",
  object: "object",
};

/** The body fields of an operation, derived from the schema that reads the body. */
export function fieldKinds(body: z.ZodType | undefined): ReadonlyMap<string, FieldKind> {
  if (body === undefined) return new Map();
  const { properties } = DescribedBody.parse(
    z.toJSONSchema(body, { io: "input", unrepresentable: "any", reused: "inline" }),
  );
  return new Map(Object.entries(properties).map(([name, field]) => [name, kindOf(field)]));
}

function kindOf({ type, anyOf = [] }: z.infer<typeof Described>): FieldKind {
  const types = [type, ...anyOf.map((one) => one.type)].filter((one) => one !== undefined);
  const [first = ""] = types.filter((one) => one !== "null");
  return { type: TYPES[first] ?? "text", isNullable: types.includes("null") };
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;
const FLAGS = new Map([
  ["true", true],
  ["false", false],
]);
const LIST_SEPARATOR = "|";

/**
 * Converts text to the value of a field. Lists are JSON or separated by |, objects are JSON. Text that cannot be converted stays
 * text, and the schema of the field reports what it expects.
 */
export function valueOf({ type }: FieldKind, text: string): unknown {
  switch (type) {
    case "text":
      return text;
    case "flag":
      return FLAGS.get(text.toLowerCase()) ?? text;
    case "number":
      return NUMBER.test(text) ? Number(text) : text;
    case "list":
      return text.startsWith("[") ? jsonOf(text) : partsOf(text);
    case "object":
      return jsonOf(text);
  }
}

function partsOf(text: string): string[] {
  return text === "" ? [] : text.split(LIST_SEPARATOR).map((part) => part.trim());
}

function jsonOf(text: string): unknown {
  try {
    return parseSentJson(text, RECORD_BOUNDS);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonExcessError) return text;
    throw error;
  }
}

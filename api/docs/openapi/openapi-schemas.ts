import { z } from "zod";
import { asObject, type Json } from "../../operation/json-object.ts";
import { shownParameters } from "../../operation/parameters.ts";
import { type FieldContext, fieldNote } from "../notes/field-notes.ts";

const REF = "#/components/schemas/";

/** Collects the named schemas (`meta({ id })`) that the document refers to. */
export class Schemas {
  readonly all: Json = {};

  /**
   * Converts a schema for inline use and moves named ones to the components. `owners`: names under which notes on its fields are
   * looked up.
   */
  reference(schema: z.ZodType, io: "input" | "output", owners: readonly string[]): Json {
    const { $defs, ...rest } = this.#convert(schema, io);
    this.#add($defs);
    const { id, ...unnamed } = rest;
    if (typeof id !== "string") return withNotes(unnamed, { owners, parent: undefined });
    this.all[id] = withNotes(unnamed, { owners: [id], parent: undefined });
    return { $ref: `${REF}${id}` };
  }

  /** The records that an answer contains: the named schemas in its `data`. */
  recordsIn(answer: Json): string[] {
    const { data } = asObject(answer["properties"]);
    return [asObject(data), asObject(asObject(data)["items"])].flatMap(({ $ref }) =>
      typeof $ref === "string" ? [$ref.slice(REF.length)] : [],
    );
  }

  /** The parameters of a path or a query, as callers send them ({@link sentAs}). A list is one text with commas (G67). */
  parameters(
    schema: z.ZodType | undefined,
    { operation, location }: { operation: string; location: "path" | "query" },
  ): Json[] {
    if (!(schema instanceof z.ZodObject)) return [];
    const { $defs, properties, required = [] } = this.#convert(shownParameters(schema), "input");
    this.#add($defs);
    return Object.entries(withParameterNotes(properties, operation)).map(([name, property]) => {
      const { description, ...rest } = property;
      return {
        name,
        in: location,
        required: location === "path" || (Array.isArray(required) && required.includes(name)),
        ...(description === undefined ? {} : { description }),
        ...(rest["type"] === "array" ? { style: "form", explode: false } : {}),
        schema: rest,
      };
    });
  }

  /** The schema that a reference of this document points to; any other schema unchanged. */
  resolve(schema: Json): Json {
    const { $ref } = schema;
    return typeof $ref === "string" ? asObject(this.all[$ref.slice(REF.length)]) : schema;
  }

  #add(definitions: unknown): void {
    for (const [name, definition] of Object.entries(asObject(definitions))) {
      const { id: _id, ...named } = asObject(definition);
      this.all[name] = withNotes(named, { owners: [name], parent: undefined });
    }
  }

  #convert(schema: z.ZodType, io: "input" | "output"): Json {
    const json = jsonSchemaOf(schema, io);
    // oxlint-disable-next-line eslint/no-restricted-properties -- a schema of ours
    return asObject(JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", REF)));
  }
}

/** The schemas of what callers may send in a path or a query, by parameter name. Named schemas are `$ref`s that lead nowhere. */
export function parameterSchemas(
  schema: z.ZodType | undefined,
  operation: string,
): Readonly<Record<string, Json>> {
  if (!(schema instanceof z.ZodObject)) return {};
  const { properties } = jsonSchemaOf(shownParameters(schema), "input");
  return withParameterNotes(properties, operation);
}

function withParameterNotes(
  properties: unknown,
  operation: string,
): Readonly<Record<string, Json>> {
  const context = { owners: [operation], parent: undefined };
  return Object.fromEntries(
    Object.entries(asObject(properties)).map(([name, property]) => [
      name,
      described(asObject(property), fieldNote(`?${name}`, context)),
    ]),
  );
}

/** The schema of an answer with its named parts in `$defs`. */
export function outputSchema(schema: z.ZodType): Json {
  return jsonSchemaOf(schema, "output");
}

function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    reused: "inline",
  });
  return json;
}

/** Adds notes as descriptions to the fields of a schema and to nested fields. */
function withNotes(schema: Json, context: FieldContext): Json {
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
  const inside = (part: unknown): unknown =>
    typeof part === "object" && part !== null ? withNotes(asObject(part), context) : part;
  const choices = (parts: unknown): unknown[] => (Array.isArray(parts) ? parts.map(inside) : []);
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: fieldsWithNotes(properties, context) }),
    ...(items === undefined ? {} : { items: inside(items) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: inside(additionalProperties) }),
    ...(anyOf === undefined ? {} : { anyOf: choices(anyOf) }),
    ...(oneOf === undefined ? {} : { oneOf: choices(oneOf) }),
  };
}

function fieldsWithNotes(properties: unknown, { owners, parent }: FieldContext): Json {
  return Object.fromEntries(
    Object.entries(asObject(properties)).map(([name, value]) => {
      const field = withNotes(asObject(value), { owners, parent: name });
      return [name, described(field, fieldNote(name, { owners, parent }))];
    }),
  );
}

/** Some tools ignore siblings of a reference, so a reference gets no note. */
function described(schema: Json, note: string | undefined): Json {
  if (note === undefined || "description" in schema || "$ref" in schema) return schema;
  return { ...schema, description: note };
}

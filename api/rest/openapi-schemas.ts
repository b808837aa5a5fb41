import { z } from "zod";

export type Json = Record<string, unknown>;

const REF = "#/components/schemas/";

/** Collects the named schemas (`meta({ id })`) that the document refers to. */
export class Schemas {
  readonly all: Json = {};

  /** A schema for use in place, with named ones moved to the components. */
  reference(schema: z.ZodType, io: "input" | "output"): Json {
    const { $defs, ...rest } = this.#convert(schema, io);
    for (const [name, definition] of Object.entries(asObject($defs ?? {}))) {
      const { id: _id, ...named } = asObject(definition);
      this.all[name] = named;
    }
    const { id, ...unnamed } = rest;
    if (typeof id !== "string") return unnamed;
    this.all[id] = unnamed;
    return { $ref: `${REF}${id}` };
  }

  /** The parameters of a path or a query, which are strings on the wire: one that reads as a number is told as one. */
  parameters(schema: z.ZodType | undefined, place: "path" | "query"): Json[] {
    return Object.entries(parameterSchemas(schema)).map(([name, property]) => {
      const { description, pattern, ...rest } = property;
      return {
        name,
        in: place,
        required: place === "path",
        ...(description === undefined ? {} : { description }),
        schema: {
          ...rest,
          ...(pattern === undefined || rest["type"] === "integer" ? {} : { pattern }),
        },
      };
    });
  }

  /** What a reference of this document points to; other schemas as they are. */
  resolve(schema: Json): Json {
    const { $ref } = schema;
    return typeof $ref === "string" ? asObject(this.all[$ref.slice(REF.length)]) : schema;
  }

  #convert(schema: z.ZodType, io: "input" | "output"): Json {
    const json = jsonSchemaOf(schema, io);
    return asObject(JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", REF)));
  }
}

/** What callers may send of each parameter of a path or a query, by name. */
export function parameterSchemas(schema: z.ZodType | undefined): Readonly<Record<string, Json>> {
  if (!(schema instanceof z.ZodObject)) return {};
  const { properties } = jsonSchemaOf(schema, "input");
  return Object.fromEntries(
    Object.entries(asObject(properties)).map(([name, property]) => [name, asObject(property)]),
  );
}

export function parameterNames(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    reused: "inline",
  });
  return json;
}

/** The members of a JSON object; none of anything else. */
export function asObject(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}

/** A JSON string; "" of anything else. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

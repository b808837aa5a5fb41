import { z } from "zod";
import { API_ERRORS } from "../errors.ts";
import type { Operation } from "../operation.ts";

export type OpenApiOptions = {
  readonly operations: readonly Operation[];
  /** Public address with `/api/v1`. */
  readonly baseUrl: string;
};

type Json = Record<string, unknown>;

const BEARER = "bearerAuth";
const REF = "#/components/schemas/";

const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(API_ERRORS)),
      message: z.string().meta({ description: "For people; it may change" }),
      details: z
        .object({
          fields: z
            .record(z.string(), z.string())
            .optional()
            .meta({ description: "Field of the body to text" }),
          param: z.string().optional().meta({ description: "The wrong query parameter" }),
          field: z.string().optional().meta({ description: "The field in conflict" }),
        })
        .optional(),
    }),
  })
  .meta({ id: "Error" });

/** The OpenAPI 3.1 document of the API (G194), made from the schemas that validate its requests. */
export function buildOpenApi({ operations, baseUrl }: OpenApiOptions): Json {
  const schemas = new Schemas();
  const error = schemas.reference(ErrorBody, "output");
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, schemas);
  }
  paths["/openapi.json"] = { get: DOCUMENT_OPERATION };
  return {
    openapi: "3.1.0",
    info: {
      title: "Affiliate tracking API",
      version: "1",
      description: "REST API version 1. Money is a decimal string, times are UTC.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    security: [{ [BEARER]: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { [BEARER]: { type: "http", scheme: "bearer", description: "An API key" } },
      responses: { Error: errorResponse(error) },
      schemas: schemas.all,
    },
  };
}

const DOCUMENT_OPERATION = {
  operationId: "getOpenApi",
  tags: ["Account"],
  summary: "This document",
  security: [],
  responses: {
    "200": {
      description: "The OpenAPI document",
      content: { "application/json": { schema: { type: "object" } } },
    },
  },
};

function describe(operation: Operation, schemas: Schemas): Json {
  const { input, access, description } = operation;
  const permission = access.permission === undefined ? "" : ` Permission: ${access.permission}.`;
  const ofStaff =
    access.staffPermission === undefined ? "" : ` Of staff keys: ${access.staffPermission}.`;
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${description === undefined ? "" : `${description}\n\n`}Roles: ${access.roles.join(", ")}.${permission}${ofStaff}`,
    parameters: [
      ...parametersOf(schemas, input.path, "path"),
      ...parametersOf(schemas, input.query, "query"),
    ],
    ...(input.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemas.reference(input.body, "input") } },
          },
        }),
    responses: {
      [String(operation.status)]: successResponse(operation, schemas),
      "4XX": { $ref: "#/components/responses/Error" },
      "5XX": { $ref: "#/components/responses/Error" },
    },
  };
}

function successResponse({ output, otherMediaTypes = [] }: Operation, schemas: Schemas): Json {
  return {
    description: "Success",
    headers: HEADERS,
    content: {
      "application/json": { schema: schemas.reference(output, "output") },
      ...Object.fromEntries(otherMediaTypes.map((type) => [type, { schema: { type: "string" } }])),
    },
  };
}

const HEADERS = {
  "X-Request-Id": header("string", "Names this request in the log"),
  "X-RateLimit-Limit": header("integer", "Requests a minute"),
  "X-RateLimit-Remaining": header("integer", "Requests left in this minute"),
  "X-RateLimit-Reset": header("integer", "Seconds until the next minute"),
};

function header(type: string, description: string): Json {
  return { description, schema: { type } };
}

function errorResponse(schema: Json): Json {
  return {
    description: Object.entries(API_ERRORS)
      .map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`)
      .join("\n"),
    headers: {
      ...HEADERS,
      "Retry-After": header("integer", "Seconds; with 429 and 503"),
    },
    content: { "application/json": { schema } },
  };
}

function parametersOf(
  schemas: Schemas,
  schema: z.ZodType | undefined,
  place: "path" | "query",
): Json[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const { properties } = schemas.inline(schema);
  return Object.entries(asObject(properties)).map(([name, property]) => {
    const { description, ...rest } = asObject(property);
    return {
      name,
      in: place,
      required: place === "path",
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

/** Collects the named schemas (`meta({ id })`) that the document refers to. */
class Schemas {
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

  inline(schema: z.ZodType): Json {
    return this.#convert(schema, "input");
  }

  #convert(schema: z.ZodType, io: "input" | "output"): Json {
    const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      reused: "inline",
    });
    return asObject(JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", REF)));
  }
}

function asObject(value: unknown): Json {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value));
}

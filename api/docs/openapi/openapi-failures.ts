import { z } from "zod";
import { API_ERRORS, type ErrorCode } from "../../operation/errors.ts";
import { asObject, type Json } from "../../operation/json-object.ts";
import type { Operation } from "../../operation/operation.ts";
import type { Schemas } from "./openapi-schemas.ts";

/** The body of an answer other than success. */
const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(API_ERRORS)),
      message: z.string().meta({ description: "For people; it may change" }),
      details: z
        .strictObject({
          fields: z
            .record(z.string(), z.string())
            .optional()
            .meta({ description: "Field of the body to text, nested ones as `events[0].payout`" }),
          param: z.string().optional().meta({ description: "The wrong query parameter" }),
          field: z.string().optional().meta({ description: "The field in conflict" }),
        })
        .optional(),
    }),
  })
  .meta({ id: "Error" });

/** Codes that any request can get, including one that needs no key. */
export const FAILURES_OF_ALL: readonly ErrorCode[] = [
  "invalid_api_key",
  // For sessions: not signed in, one factor only, and from another site or without a membership.
  "sign_in_required",
  "second_factor_required",
  "forbidden",
  "ip_not_allowed",
  "workspace_inactive",
  "advertiser_inactive",
  "affiliate_inactive",
  "rate_limited",
  // Unknown query parameters are refused everywhere (G14).
  "invalid_parameter",
  "internal_error",
  "unavailable",
];

/** Every code that an operation can answer: what follows from its access, path, query and body, and its own `failures`. */
export function failuresOf(operation: Operation): readonly ErrorCode[] {
  const { access, input, method, fileBody, keepsAnswer, failures = [] } = operation;
  const query = input.query instanceof z.ZodObject ? Object.keys(input.query.shape) : [];
  const codes: readonly (readonly [ErrorCode, boolean])[] = [
    ["missing_api_key", access.callers === undefined],
    ["fresh_sign_in_required", access.needsFresh !== undefined],
    ["read_only_key", access.isWrite && (access.callers ?? "members") === "members"],
    ["invalid_json", method !== "GET" && fileBody === undefined],
    ["payload_too_large", method !== "GET"],
    ["unsupported_media_type", method !== "GET" && fileBody === undefined],
    [
      "invalid_request",
      input.body !== undefined || fileBody !== undefined || keepsAnswer !== undefined,
    ],
    ["conflict", keepsAnswer !== undefined],
    ["validation_failed", input.body !== undefined],
    ["invalid_cursor", query.includes("cursor")],
    ["not_found", input.path !== undefined],
  ];
  const known = codes.filter(([, isPossible]) => isPossible).map(([code]) => code);
  return [...new Set([...known, ...FAILURES_OF_ALL, ...failures])];
}

const HEADERS = {
  "X-Request-Id": header("string", "Names this request in the log"),
  "X-RateLimit-Limit": header("integer", "Requests a minute"),
  "X-RateLimit-Remaining": header("integer", "Requests left in this minute"),
  "X-RateLimit-Reset": header("integer", "Seconds until the next minute"),
};

/** Headers of every answer (ENV-026, ENV-027). */
export const ANSWER_HEADERS: Json = HEADERS;

function header(type: string, description: string): Json {
  return { description, required: true, schema: { type } };
}

/** Answers other than success, by status. All operations with the same codes share one. */
export class FailureResponses {
  readonly all: Json = {};
  /** The schema of {@link ErrorBody}. */
  readonly #error: Json;

  constructor(schemas: Schemas) {
    const reference = schemas.reference(ErrorBody, "output", []);
    this.#error = schemas.resolve(reference);
    this.all["Error"] = {
      description: "Any other failure",
      content: {
        "application/json": { schema: reference, example: exampleOf("method_not_allowed") },
      },
    };
  }

  of(codes: readonly ErrorCode[]): Json {
    const statuses = [...new Set(codes.map((code) => API_ERRORS[code].status))].toSorted(
      (a, b) => a - b,
    );
    const named = Object.fromEntries(
      statuses.map((status) => {
        const ofStatus = codes.filter((code) => API_ERRORS[code].status === status).toSorted();
        const name = [`Error${status}`, ...ofStatus].join("_");
        this.all[name] ??= this.#response(status, ofStatus);
        return [String(status), { $ref: `#/components/responses/${name}` }];
      }),
    );
    return { ...named, default: { $ref: "#/components/responses/Error" } };
  }

  #response(status: number, codes: readonly ErrorCode[]): Json {
    const isRetryable = status === 429 || status === 503;
    return {
      description: codes.map((code) => `\`${code}\`: ${API_ERRORS[code].meaning}`).join("\n\n"),
      headers: {
        ...HEADERS,
        ...(isRetryable ? { "Retry-After": header("integer", "Seconds to wait") } : {}),
        ...(status === 401 ? { "WWW-Authenticate": header("string", "`Bearer`") } : {}),
      },
      content: {
        "application/json": {
          schema: narrowed(this.#error, codes),
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
  }
}

/** The common failure schema, narrowed to the codes of one answer. */
function narrowed(schema: Json, codes: readonly ErrorCode[]): Json {
  const error = asObject(asObject(schema["properties"])["error"]);
  const code = { type: "string", enum: codes };
  return {
    ...schema,
    properties: { error: { ...error, properties: { ...asObject(error["properties"]), code } } },
  };
}

const DETAILS: Partial<Record<ErrorCode, Json>> = {
  validation_failed: { fields: { name: "required" } },
  invalid_parameter: { param: "limit" },
  invalid_cursor: { param: "cursor" },
  conflict: { field: "code" },
};

function exampleOf(code: ErrorCode): Json {
  const details = DETAILS[code];
  const message = API_ERRORS[code].meaning;
  return { error: { code, message, ...(details === undefined ? {} : { details }) } };
}

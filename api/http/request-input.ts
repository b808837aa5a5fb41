import type { z } from "zod";
import {
  ApiError,
  invalidParameter,
  notFound,
  UNKNOWN_FIELD,
  validationFailed,
} from "../operation/errors.ts";
import type {
  FieldFaults,
  Operation,
  OperationInput,
  ReceivedFile,
  RequestContext,
} from "../operation/operation.ts";
import { parameterNames } from "../operation/parameters.ts";
import { refuseUnknownParameters } from "./unknown-parameters.ts";

/** Longer than any text that a field accepts. */
const LOOKED_AT_MAX = 100_000;

/** A request as the transport read it. `body` is undefined if there was none. */
export type RawRequest = {
  readonly path: Readonly<Record<string, string>>;
  /** A repeated parameter counts once: with its first value, or for a list with all of its values. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly file?: ReceivedFile | undefined;
};

/**
 * Reads the input of an operation in the order of G02: form of the body, record of the path, query, fields of the body.
 * @throws {ApiError} for the first step that fails; all wrong fields of the body are reported together (G15).
 */
export async function readInput(
  operation: Operation,
  context: RequestContext,
  raw: RawRequest,
): Promise<OperationInput> {
  const object = operation.input.body === undefined ? undefined : objectOf(raw.body);
  const path = readPath(operation, raw.path);
  const resource = await operation.findResource?.(context, path);
  refuseUnknownParameters(Object.keys(raw.query), parameterNames(operation.input.query));
  const query = readQuery(operation.input.query, raw.query);
  const body =
    object === undefined
      ? undefined
      : await readBody(operation, context, { body: object, resource });
  return { path, query, body, resource, file: raw.file };
}

function objectOf(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined) throw new ApiError("invalid_json", "send a JSON object as the body");
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("invalid_request", "the body must be a JSON object");
  }
  return { ...body };
}

/** A malformed path segment names a record that does not exist (G17). */
function readPath(operation: Operation, raw: RawRequest["path"]): unknown {
  if (operation.input.path === undefined) return undefined;
  const parsed = operation.input.path.safeParse(raw);
  if (!parsed.success) throw notFound("record");
  return parsed.data;
}

function readQuery(schema: z.ZodType | undefined, raw: RawRequest["query"]): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalidParameter(String(issue?.path[0] ?? "query"), issue?.message ?? "not valid");
}

async function readBody(
  operation: Operation,
  context: RequestContext,
  raw: { readonly body: Readonly<Record<string, unknown>>; readonly resource: unknown },
): Promise<unknown> {
  const parsed = operation.input.body?.safeParse(raw.body);
  const { body, resource } = raw;
  const found = await operation.findFaults?.(context, {
    body: parsed?.success === false ? withoutLongTexts(body) : body,
    resource,
  });
  // Faults of the schema replace faults of the stored records for the same field, because they are more basic.
  const faults = {
    ...found,
    ...(parsed?.success === false ? faultsOf(parsed.error, raw.body) : {}),
  };
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  return parsed?.data;
}

/** Texts that the schema refuses by their length, and that could take long to look at, are kept from further checks (G213). */
function withoutLongTexts(
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isLong = (value: unknown): boolean =>
    typeof value === "string" && value.length > LOOKED_AT_MAX;
  if (!Object.values(body).some(isLong)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isLong(value)));
}

/** The faults of a body that a schema finds; none if it is right. */
export function faultsBy(schema: z.ZodType, body: unknown): FieldFaults {
  const { error } = schema.safeParse(body);
  return error === undefined ? {} : faultsOf(error, body);
}

/** Faults of a body by field, the first for each field. Nested fields are named as `events[0].payout`. */
export function faultsOf(error: z.ZodError, body: unknown): FieldFaults {
  const faults = new Map<string, string>();
  const add = (path: readonly PropertyKey[], message: string): void => {
    const field = fieldName(path);
    if (!faults.has(field)) faults.set(field, message);
  };
  for (const issue of error.issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) add([...issue.path, key], UNKNOWN_FIELD);
    } else {
      add(issue.path, valueAt(body, issue.path) === undefined ? "required" : issue.message);
    }
  }
  return Object.fromEntries(faults);
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`,
    )
    .join("");
}

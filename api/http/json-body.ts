import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { type JsonBounds, type JsonCut, scanJson } from "../../schemas/json/json-bounds.ts";
import { digitsKept } from "../../schemas/json/number-texts.ts";
import { describeExcess } from "../../schemas/json/sent-json.ts";
import { ApiError, UNKNOWN_FIELD, validationFailed } from "../operation/errors.ts";
import type { Operation } from "../operation/operation.ts";
import { bodyBounds } from "./body-bounds.ts";
import { refuseFaultyList } from "./faulty-list.ts";
import { faultsBy } from "./request-input.ts";

/** application/json and types that end in +json (G12). */
const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

/** A longer body is looked at twice: first at its beginning. */
const SHORT_BYTES_MAX = 64 * 1024;
const BEGINNING_BYTES_MAX = 128 * 1024;

/**
 * Reads JSON bodies. A body with more in it than its operation can use is refused without being parsed, so that it costs no more than a text
 * of its size (G213). Many clients send a content type with every request: whether a body is required is left to the operation.
 */
export function addJsonBodies(app: FastifyInstance): void {
  const secureParse = app.getDefaultJsonParser("error", "error");
  const known = new Map<z.ZodType | undefined, JsonBounds>();
  const boundsOf = (schema: z.ZodType | undefined): JsonBounds => {
    const bounds = known.get(schema) ?? bodyBounds(schema);
    known.set(schema, bounds);
    return bounds;
  };
  app.addContentTypeParser(JSON_MEDIA, { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    const { operation } = request.routeOptions.config;
    const parse: Parse = (text) => {
      const parsed: { error: Error | null; value: unknown } = { error: null, value: undefined };
      // It calls back at once.
      void secureParse(request, text, (error, value: unknown) => {
        Object.assign(parsed, { error, value });
      });
      if (parsed.error !== null) throw parsed.error;
      return parsed.value;
    };
    try {
      done(null, read(bytes, { operation, bounds: boundsOf(operation?.input.body), parse }));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

type Parse = (text: string) => unknown;
type Reader = {
  readonly operation: Operation | undefined;
  readonly bounds: JsonBounds;
  readonly parse: Parse;
};

/** Undefined for a body without bytes. @throws {ApiError}, or the error of `parse`. */
function read(bytes: Buffer, { operation, bounds, parse }: Reader): unknown {
  if (bytes.length === 0) return undefined;
  const schema = operation?.input.body;
  const strict = operation?.strictBody ?? schema;
  if (strict !== undefined && bytes.length > SHORT_BYTES_MAX) {
    const { beginning } = scanJson(bytes.subarray(0, BEGINNING_BYTES_MAX), bounds);
    if (beginning !== undefined) refuseFaultyList(strict, parse(cutText(bytes, beginning)));
  }
  const { excess } = scanJson(bytes, bounds);
  if (excess === undefined) return parseDigits(bytes.toString(), operation, parse);
  if (excess.kind === "fields" && schema !== undefined)
    throw unknownFields(schema, parse(cutText(bytes, excess.cut)), excess.fieldsBehind);
  throw new ApiError("invalid_request", `the body ${describeExcess(excess, bounds)}`);
}

/** A number that a float would change, or that its field takes as a text, becomes a text with all its digits (G218). */
function parseDigits(text: string, operation: Operation | undefined, parse: Parse): unknown {
  const value = parse(text);
  const kept = digitsKept(text, new Set(operation?.digitFields));
  return kept === text ? value : parse(kept);
}

function cutText(bytes: Buffer, { at, closing }: JsonCut): string {
  return bytes.toString("utf8", 0, at) + closing;
}

/** Names the first unknown fields in the beginning of a body. What else is wrong there may be right in the whole body. */
function unknownFields(schema: z.ZodType, begun: unknown, fieldsBehind: number): ApiError {
  const faults = Object.entries(faultsBy(schema, begun));
  const unknown = faults.filter(([, fault]) => fault === UNKNOWN_FIELD);
  return unknown.length === 0
    ? new ApiError("invalid_request", "the body has too many fields")
    : validationFailed(Object.fromEntries(unknown), fieldsBehind);
}

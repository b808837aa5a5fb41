import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { type JsonBounds, type JsonCut, scanJson } from "../../schemas/json/json-bounds.ts";
import { describeExcess } from "../../schemas/json/sent-json.ts";
import { ApiError, UNKNOWN_FIELD, validationFailed } from "../errors.ts";
import { bodyBounds } from "./body-bounds.ts";
import { MORE_FAULTY_ENTRIES } from "./bounded-list.ts";
import { faultsOf } from "./request-input.ts";

/** application/json and types that end in +json (G12). */
const JSON_MEDIA = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

/** A body that is read whole at once. */
const SHORT_BYTES_MAX = 64 * 1024;

/**
 * Reads JSON bodies. One with more in it than its operation can use is refused without being parsed, so that it costs no more than a text of
 * its size (G213). Many clients send a content type with every request: whether a body is required is left to the operation.
 */
export function addJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  const bounds = new Map<z.ZodType | undefined, JsonBounds>();
  app.addContentTypeParser(JSON_MEDIA, { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    const { operation } = request.routeOptions.config;
    const schema = operation?.input.body;
    const own = bounds.get(schema) ?? bodyBounds(schema);
    bounds.set(schema, own);
    const { excess, beginning } = scanJson(bytes, own);
    const parseWhole = (): void => void parse(request, bytes.toString(), done);
    const parseCut = (cut: JsonCut, judge: (begun: unknown) => ApiError | undefined): void => {
      const text = bytes.toString("utf8", 0, cut.at) + cut.closing;
      void parse(request, text, (error, begun) => {
        const fault = error ?? judge(begun);
        if (fault === undefined) parseWhole();
        else done(fault);
      });
    };
    if (excess?.kind === "fields" && schema !== undefined)
      parseCut(excess.cut, (begun) => unknownFields(schema, begun, excess.fieldsBehind));
    else if (excess !== undefined)
      done(new ApiError("invalid_request", `the body ${describeExcess(excess, own)}`));
    else if (beginning !== undefined && schema !== undefined && bytes.length > SHORT_BYTES_MAX)
      parseCut(beginning, (begun) => faultyList(operation?.strictBody ?? schema, begun));
    else parseWhole();
  });
}

/** Names unknown fields in the beginning of a body. Whatever else is wrong with it may be right behind it. */
function unknownFields(schema: z.ZodType, begun: unknown, fieldsBehind: number): ApiError {
  const faults = faultsIn(schema, begun).filter(([, fault]) => fault === UNKNOWN_FIELD);
  return validationFailed(Object.fromEntries(faults), fieldsBehind);
}

/** The refusal of a body with a list that has, in its beginning, all the faulty entries that are named. The rest is not looked at. */
function faultyList(schema: z.ZodType, begun: unknown): ApiError | undefined {
  const faults = faultsIn(schema, begun);
  const list = faults.find(([, fault]) => fault === MORE_FAULTY_ENTRIES)?.[0];
  if (list === undefined) return undefined;
  const ofList = faults.filter(([field]) => field === list || field.startsWith(`${list}[`));
  return validationFailed(Object.fromEntries(ofList));
}

function faultsIn(schema: z.ZodType, begun: unknown): [field: string, fault: string][] {
  const { error } = schema.safeParse(begun);
  return error === undefined ? [] : Object.entries(faultsOf(error, begun));
}

import { type ApiError, invalidParameter } from "../errors.ts";
import { parameterNames } from "../rest/openapi-schemas.ts";
import type { RawRequest } from "../rest/request-input.ts";
import { isIgnoredName, nearestHint, shownName } from "../rest/unknown-parameters.ts";
import { isObject } from "./json-rpc.ts";
import { extraParams } from "./tool-schema.ts";
import type { Tool, ToolArgument } from "./tools.ts";

/** As long as the query of a request to REST can be. */
const VALUE_CHARACTERS_MAX = 16_000;

/**
 * Builds the request that a tool call stands for. Unknown arguments and parameters are refused, not ignored: an assistant that
 * misnames a filter would take the unfiltered answer for the filtered one. Null counts as absent. Names that begin with `_` are
 * ignored.
 *
 * @throws {ApiError} `invalid_parameter` (G175).
 */
export function requestOfCall(tool: Tool, given: unknown): RawRequest {
  const values = readArguments(tool, given);
  for (const [name, { isRequired }] of Object.entries(tool.arguments)) {
    if (isRequired === true && !values.has(name)) throw invalidParameter(name, "required");
  }
  for (const [name, value] of values) {
    if (value.length > VALUE_CHARACTERS_MAX)
      throw invalidParameter(name, `expected at most ${VALUE_CHARACTERS_MAX} characters`);
  }
  const inPath = parameterNames(tool.operation.input.path);
  const all = [...values];
  return {
    path: Object.fromEntries(all.filter(([name]) => inPath.includes(name))),
    query: Object.fromEntries(all.filter(([name]) => !inPath.includes(name))),
    body: undefined,
  };
}

function readArguments(tool: Tool, given: unknown): Map<string, string> {
  const { params, ...named } = objectOf("arguments", given);
  const values = new Map<string, string>();
  for (const [name, value] of present(named)) {
    const argument = argumentOf(tool, name);
    if (argument === undefined) throw noSuchArgument(tool, name);
    values.set(name, readValue(name, argument, value));
  }
  const extra = present(objectOf("params", params));
  if (extra.length > 0 && !tool.acceptsParams) throw noSuchArgument(tool, "params");
  for (const [name, value] of extra) {
    if (values.has(name)) throw invalidParameter(name, "given twice, as an argument and in params");
    values.set(name, readParam(tool, name, value));
  }
  return values;
}

function objectOf(name: string, given: unknown): Readonly<Record<string, unknown>> {
  const value = given ?? {};
  if (!isObject(value)) throw invalidParameter(name, "expected an object");
  return value;
}

function present(values: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(values).filter(([name, value]) => value !== null && !isIgnoredName(name));
}

function argumentOf(tool: Tool, name: string): ToolArgument | undefined {
  return Object.hasOwn(tool.arguments, name) ? tool.arguments[name] : undefined;
}

/** Only converts the value to its form in a query. The operation validates it. */
function readValue(name: string, argument: ToolArgument, value: unknown): string {
  switch (argument.kind) {
    case "text":
      if (typeof value === "string") return value;
      throw invalidParameter(name, "expected text");
    case "reference":
      if (typeof value === "string" || Number.isSafeInteger(value)) return String(value);
      throw invalidParameter(name, "expected an id or a code");
    case "limit":
      if (Number.isInteger(value)) return readLimit(name, argument.max, String(value));
      throw invalidParameter(name, `expected a whole number from 1 to ${argument.max}`);
    case "list":
      if (isTexts(value)) return value.join(",");
      throw invalidParameter(name, "expected a list of names");
  }
}

/** A query parameter that is also an argument keeps the bounds of the argument. */
function readParam(tool: Tool, name: string, value: unknown): string {
  const text = paramText(value);
  if (text === undefined) throw invalidParameter(`params.${shownName(name)}`, "expected text");
  const argument = argumentOf(tool, name);
  if (argument?.kind === "limit") return readLimit(name, argument.max, text);
  if (argument !== undefined || extraParams(tool).includes(name)) return text;
  throw noSuchParam(tool, name);
}

function paramText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isTexts(value) ? value.join(",") : undefined;
}

function readLimit(name: string, max: number, text: string): string {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return text;
  throw invalidParameter(name, `expected a whole number from 1 to ${max}`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function noSuchParam(tool: Tool, name: string): ApiError {
  const { method, path } = tool.operation;
  const hint = nearestHint(name, namesOf(tool));
  return invalidParameter(
    `params.${shownName(name)}`,
    `unknown query parameter of ${method} ${path}${hint}; params accepts ${extraParams(tool).join(", ")}`,
  );
}

function noSuchArgument(tool: Tool, name: string): ApiError {
  const isParam = tool.acceptsParams && extraParams(tool).includes(name);
  const next = isParam ? "; send it in params" : nearestHint(name, namesOf(tool));
  const names = [...Object.keys(tool.arguments), ...(tool.acceptsParams ? ["params"] : [])];
  const has = names.length === 0 ? "none" : names.join(", ");
  return invalidParameter(
    shownName(name),
    `unknown argument of ${tool.name}${next}; it accepts ${has}`,
  );
}

/** Every name that a call may use, as an argument or in `params`. */
function namesOf(tool: Tool): string[] {
  return [...Object.keys(tool.arguments), ...(tool.acceptsParams ? extraParams(tool) : [])];
}

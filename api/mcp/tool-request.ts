import { JsonExcessError, parseSentJson } from "../../schemas/json/sent-json.ts";
import type { RawRequest } from "../http/request-input.ts";
import { isIgnoredName, nearestHint, shownName } from "../http/unknown-parameters.ts";
import { type ApiError, invalidParameter } from "../operation/errors.ts";
import { parameterNames } from "../operation/parameters.ts";
import { isObject } from "./json-rpc.ts";
import { extraParams } from "./tool-schema.ts";
import type { Tool, ToolArgument } from "./tools.ts";

/** As long as the query of a request to REST can be. */
const VALUE_CHARACTERS_MAX = 16_000;
/** For a list or an object that is sent as text. */
const TEXT_BOUNDS = { values: 300 };

/**
 * Builds the request that a tool call stands for. Unknown arguments and parameters are refused, not ignored: an assistant that
 * misnames a filter would take the unfiltered answer for the filtered one. Null and empty text count as absent, and text that stands for
 * a number, a list or an object is read as such, because assistants send it (G251). Names that begin with `_` are ignored.
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
  const value = given === "" ? {} : (parsedText(given, "{") ?? given ?? {});
  if (!isObject(value)) throw invalidParameter(name, "expected an object");
  return value;
}

function present(values: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(values).filter(
    ([name, value]) => value !== null && value !== "" && !isIgnoredName(name),
  );
}

/** The value of text that is JSON and begins with `mark`; undefined for anything else. */
function parsedText(given: unknown, mark: "[" | "{"): unknown {
  if (typeof given !== "string" || !given.trimStart().startsWith(mark)) return undefined;
  try {
    return parseSentJson(given, TEXT_BOUNDS);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonExcessError) return undefined;
    throw error;
  }
}

function argumentOf(tool: Tool, name: string): ToolArgument | undefined {
  return Object.hasOwn(tool.arguments, name) ? tool.arguments[name] : undefined;
}

/** Only converts the value to its form in a query. The operation validates it. */
function readValue(name: string, argument: ToolArgument, value: unknown): string {
  switch (argument.kind) {
    case "text":
      return textOf(value) ?? refuse(name, "expected text");
    case "reference":
      if (typeof value === "string" || Number.isSafeInteger(value)) return String(value);
      throw invalidParameter(name, "expected an id or a code");
    case "limit":
      return readLimit(name, argument.max, numberText(value));
    case "list":
      return textOf(value) ?? refuse(name, "expected a list of names");
  }
}

/** A query parameter that is also an argument keeps the bounds of the argument. */
function readParam(tool: Tool, name: string, value: unknown): string {
  const text = textOf(value) ?? refuse(`params.${shownName(name)}`, "expected text");
  const argument = argumentOf(tool, name);
  if (argument?.kind === "limit") return readLimit(name, argument.max, text);
  if (argument !== undefined || extraParams(tool).includes(name)) return text;
  throw noSuchParam(tool, name);
}

/** Lists are separated by commas, also a list that is sent as JSON text. Undefined for what is no text. */
function textOf(given: unknown): string | undefined {
  const value = parsedText(given, "[") ?? given;
  if (isTexts(value)) return value.join(",");
  if (typeof given === "string") return given;
  return typeof given === "number" || typeof given === "boolean" ? String(given) : undefined;
}

/** "" for what is neither a number nor text. */
function numberText(given: unknown): string {
  if (typeof given === "number") return String(given);
  return typeof given === "string" ? given.trim() : "";
}

function refuse(name: string, fault: string): never {
  throw invalidParameter(name, fault);
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

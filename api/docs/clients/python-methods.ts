import { asObject, type Json } from "../../operation/json-object.ts";
import { type ClientOperation, clientOperations } from "./client-document.ts";

const REF = "#/components/schemas/";
/** Parameters whose names are words of Python. They get an underscore, which the client removes before it sends them. */
const KEYWORDS = new Set(["from"]);

/** What datamodel-codegen reads: the schemas of the document, and every body, query, answer and row under a name of its own. */
export function pythonSchemas(document: Json): Json {
  const { info, openapi, components } = document;
  const schemas: Json = { ...asObject(asObject(components)["schemas"]) };
  for (const operation of clientOperations(document)) {
    const { body, answer, queryParameters } = operation;
    const name = typeName(operation);
    if (body !== undefined && body["$ref"] === undefined) schemas[`${name}Body`] = body;
    if (queryParameters.length > 0) schemas[`${name}Query`] = querySchema(operation);
    if (operation.isPaged && rowName(operation) === `${name}Row`)
      schemas[`${name}Row`] = rowOf(answer);
    if (answer["$ref"] === undefined) schemas[`${name}Answer`] = answer;
  }
  return asObject(withDecimals({ openapi, info, paths: {}, components: { schemas } }));
}

/** The class `Tracker`, with a method for each operation. */
export function pythonMethods(document: Json): string {
  const operations = clientOperations(document);
  return `"""Generated from the OpenAPI document. Do not edit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from . import models as m
from .transport import Transport, segment


class Tracker(Transport):
    """The operations of the API as methods. Answers are dictionaries with the fields of the API."""
${operations.flatMap((operation) => methodsOf(operation)).join("")}`;
}

function methodsOf(operation: ClientOperation): string[] {
  const { name, summary, body, queryParameters, method } = operation;
  const type = typeName(operation);
  const snake = snakeCase(name);
  const positional = positionalOf(operation);
  const query = queryParameters.length === 0 ? "" : `**query: Unpack[m.${type}Query]`;
  const fields = body === undefined ? query : `**body: Unpack[m.${refName(body) ?? `${type}Body`}]`;
  const url = urlOf(operation);
  const answer = `m.${refName(operation.answer) ?? `${type}Answer`}`;
  const head = (called: string, parameters: string, result: string): string =>
    `\n    def ${called}(${["self", ...positional, ...(parameters === "" ? [] : [parameters])].join(", ")}) -> ${result}:\n` +
    `        """${summary.replaceAll("\\", "\\\\")}"""\n`;
  const methods = [
    `${head(snake, fields, answer)}        answer: ${answer} = ${callOf(operation)}\n        return answer\n`,
  ];
  if (operation.isPaged) {
    const row = `m.${rowName(operation)}`;
    const result = `Iterator[${row}]`;
    methods.push(
      `${head(snake.replace(/^list_/, "iter_"), query, result)}        rows: ${result} = self.rows(${url}, query)\n        return rows\n`,
    );
  }
  if (operation.csvAnswer)
    methods.push(
      `${head(`${snake}_csv`, query, "str")}        return self.read_csv(${url}, query)\n`,
    );
  if (operation.csvBody)
    methods.push(
      `${head(`${snake}_csv`, "csv: str", answer)}        answer: ${answer} = self.send_csv("${method}", ${url}, csv)\n        return answer\n`,
    );
  return methods;
}

/** Parameters that callers do not name: the path's, and a file. */
function positionalOf({ pathParameters, fileBody }: ClientOperation): string[] {
  const places = pathParameters.map((one) => `${String(one["name"])}: ${pathType(one)}`);
  const given = fileBody ? [...places, "file: bytes"] : places;
  return given.length === 0 ? [] : [...given, "/"];
}

function urlOf({ path, pathParameters }: ClientOperation): string {
  if (pathParameters.length === 0) return `"${path}"`;
  return `f"${path.replaceAll(/\{(\w+)\}/g, "{segment($1)}")}"`;
}

function callOf(operation: ClientOperation): string {
  const { method, body, queryParameters, fileBody } = operation;
  const url = urlOf(operation);
  const hasQuery = queryParameters.length > 0;
  if (fileBody) return `self.send_file("${method}", ${url}, file, ${hasQuery ? "query" : "{}"})`;
  const ofQuery = hasQuery ? ", query=query" : "";
  return `self.call("${method}", ${url}${body === undefined ? ofQuery : ", body=body"})`;
}

/** Without `format` where an answer may be CSV: CSV has its own method. */
function querySchema({ queryParameters: all, csvAnswer }: ClientOperation): Json {
  const queryParameters = all.filter(({ name }) => !csvAnswer || name !== "format");
  const properties = queryParameters.map(({ name, description, schema }) => {
    const named = KEYWORDS.has(String(name)) ? `${String(name)}_` : String(name);
    return [named, description === undefined ? schema : { ...asObject(schema), description }];
  });
  const required = queryParameters
    .filter((one) => one["required"] === true)
    .map((one) => one["name"]);
  return { type: "object", properties: Object.fromEntries(properties), required };
}

/** The schema of one record of a list; if the answer has several shapes, of the shape with pages. */
function rowOf(answer: Json): Json {
  const shapes = Array.isArray(answer["anyOf"]) ? answer["anyOf"].map(asObject) : [answer];
  return asObject(asObject(asObject(shapes[0]?.["properties"])["data"])["items"]);
}

function rowName(operation: ClientOperation): string {
  return refName(rowOf(operation.answer)) ?? `${typeName(operation)}Row`;
}

function refName({ $ref }: Json): string | undefined {
  return typeof $ref === "string" ? $ref.slice(REF.length) : undefined;
}

function typeName({ name }: ClientOperation): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function pathType({ schema }: Json): string {
  const { type, anyOf } = asObject(schema);
  if (Array.isArray(anyOf)) return "int | str";
  return type === "integer" ? "int" : "str";
}

/** Money in bodies is text or `Decimal`, never a float. */
function withDecimals(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withDecimals);
  if (typeof part !== "object" || part === null) return part;
  const { format, ...schema } = asObject(part);
  if (format === "decimal") {
    const { description, ...text } = schema;
    return { description, anyOf: [text, { type: "string", format: "decimal" }] };
  }
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, withDecimals(one)]));
}

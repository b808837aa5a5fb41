import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { expect } from "vitest";
import { buildOpenApi } from "../../api/docs/openapi/openapi.ts";
import { asObject, type Json } from "../../api/operation/json-object.ts";
import { operations } from "../../api/operations.ts";

export type SeenAnswer = {
  readonly method: string;
  /** Path below `/api/v1`, with its query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly headers: Headers;
  /** Parsed if it is JSON. */
  readonly body: unknown;
};

const document = buildOpenApi({ operations, baseUrl: "https://api.example/api/v1" });
// Most validators run a few times: optimising their code takes longer than it saves.
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateFormats: true,
  code: { optimize: false },
});
formats.default(ajv);
ajv.addSchema(document, "openapi");
const validators = new Map<string, ValidateFunction>();

/** A pattern for each path of the document. Paths with fewer parameters come first. */
const paths = Object.keys(asObject(document["paths"]))
  .map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }))
  .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length);

/**
 * Checks an answer against the OpenAPI document: its operation lists the status, the required headers are present, and the body is
 * valid by the schema of that status. For an unknown path or method, the answer must be 404, 405 or a refusal of the key.
 */
export function expectDescribed(answer: SeenAnswer): void {
  const { method, path, status } = answer;
  const what = `${method} ${path} answered ${status}: ${JSON.stringify(answer.body).slice(0, 300)}`;
  const plain = path.split("?", 1)[0] ?? "";
  const known = paths.find(({ pattern }) => pattern.test(plain))?.path;
  const described =
    known === undefined
      ? {}
      : member(document, "paths", known, method === "HEAD" ? "get" : method.toLowerCase());
  if (Object.keys(described).length === 0) {
    expect([401, 403, 404, 405, 429, 503], what).toContain(status);
    expectValid("/components/responses/Error", answer, what);
    return;
  }
  const response = member(described, "responses", String(status));
  expect(Object.keys(response), `${what}; its operation does not list this status`).not.toEqual([]);
  const { $ref } = response;
  const pointer =
    typeof $ref === "string"
      ? $ref.slice(1)
      : `/paths/${escapedPointer(known ?? "")}/${method.toLowerCase()}/responses/${status}`;
  expectValid(pointer, answer, what);
}

function expectValid(pointer: string, answer: SeenAnswer, what: string): void {
  if (answer.method === "HEAD") return;
  const response = at(pointer);
  for (const [name, header] of Object.entries(asObject(response["headers"])))
    if (asObject(header)["required"] === true)
      expect(answer.headers.get(name), `${what}; header ${name}`).not.toBeNull();
  const mediaType = answer.contentType.split(";", 1)[0] ?? "";
  expect(Object.keys(asObject(response["content"])), what).toContain(mediaType);
  if (mediaType !== "application/json") return;
  const validate = validatorOf(`${pointer}/content/application~1json/schema`);
  validate(answer.body);
  expect(validate.errors ?? [], what).toEqual([]);
}

function validatorOf(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known !== undefined) return known;
  const validate = ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
  validators.set(pointer, validate);
  return validate;
}

function at(pointer: string): Json {
  const names = pointer
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/"));
  return member(document, ...names);
}

function member(value: Json, ...names: readonly string[]): Json {
  let inner = value;
  for (const name of names) {
    const next = inner[name];
    // Without a copy: the object of all paths has hundreds of members.
    inner = isObject(next) ? next : {};
  }
  return inner;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escapedPointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

export type DescribedCall = {
  readonly method: string;
  /** Path below `/api/v1`, with its query. */
  readonly path: string;
  readonly key?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

export type DescribedAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
};

/** Calls the API at `base` (`…/api/v1`) and checks the answer against the OpenAPI document. */
export async function callDescribed(base: string, call: DescribedCall): Promise<DescribedAnswer> {
  const { method, path, key, body, raw } = call;
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...call.headers,
    },
    body: raw ?? (body === undefined ? null : JSON.stringify(body)),
  });
  const text = await answer.text();
  const contentType = answer.headers.get("content-type") ?? "";
  const isJson = contentType.startsWith("application/json") && text !== "";
  const parsed: unknown = isJson ? JSON.parse(text) : text;
  const { status, headers } = answer;
  expectDescribed({ method, path, status, contentType, headers, body: parsed });
  return { status, headers, text, body: parsed };
}

import { asObject, asText } from "../rest/openapi-schemas.ts";
import { bodiesOf, type DescribedOperation, parametersIn } from "./described-operation.ts";
import { JSON_STYLE, literal, PYTHON_STYLE, TYPESCRIPT_STYLE } from "./literal.ts";

/** A call with the examples of the OpenAPI document. */
export type SampleCall = {
  readonly method: string;
  /** Below the server's address, with its query. */
  readonly path: string;
  readonly needsKey: boolean;
  /** As JSON; undefined without a body. */
  readonly body?: unknown;
};

export type CodeSample = {
  readonly language: "sh" | "ts" | "python";
  readonly code: string;
};

export function sampleCallOf(operation: DescribedOperation): SampleCall {
  const parts = new Map(
    parametersIn(operation, "path").map(({ name, example }) => [asText(name), String(example)]),
  );
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_place, name: string) =>
    encodeURIComponent(parts.get(name) ?? ""),
  );
  const query = parametersIn(operation, "query")
    .filter(({ example }) => example !== undefined)
    .map(({ name, example }) => `${asText(name)}=${queryValue(String(example))}`);
  const { example: body } = asObject(bodiesOf(operation)["application/json"]);
  const { security } = operation.described;
  return {
    method: operation.method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    needsKey: !(Array.isArray(security) && security.length === 0),
    ...(body === undefined ? {} : { body }),
  };
}

/** Commas and colons may stand in a query as they are, and are easier to read so. */
function queryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** The call in each language. The key is read from the environment, `API_KEY`. */
export function codeSamples(call: SampleCall, baseUrl: string): readonly CodeSample[] {
  const url = `${baseUrl}${call.path}`;
  return [
    { language: "sh", code: inCurl(call, url) },
    { language: "ts", code: inTypescript(call, url) },
    { language: "python", code: inPython(call, url) },
  ];
}

function inCurl({ method, needsKey, body }: SampleCall, url: string): string {
  const isPlain = method === "GET" || (method === "POST" && body !== undefined);
  const lines = [
    `curl ${isPlain ? "" : `-X ${method} `}"${url}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quoted(body)}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoted(body: unknown): string {
  return `'${literal(body, JSON_STYLE).replaceAll("'", String.raw`'\''`)}'`;
}

function inTypescript({ method, needsKey, body }: SampleCall, url: string): string {
  const key = "Authorization: `Bearer ${process.env.API_KEY}`";
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    ...(body === undefined
      ? needsKey
        ? [`headers: { ${key} },`]
        : []
      : [
          `headers: {\n    ${key},\n    "Content-Type": "application/json",\n  },`,
          `body: JSON.stringify(${literal(body, TYPESCRIPT_STYLE, 2)}),`,
        ]),
  ];
  const sent = options.length === 0 ? "" : `, {\n  ${options.join("\n  ")}\n}`;
  return [
    `const response = await fetch("${url}"${sent});`,
    "if (!response.ok) throw new Error(await response.text());",
    "console.log(await response.text());",
  ].join("\n");
}

function inPython({ method, needsKey, body }: SampleCall, url: string): string {
  const options = [
    `"${url}",`,
    ...(needsKey ? [`headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},`] : []),
    ...(body === undefined ? [] : [`json=${literal(body, PYTHON_STYLE, 4)},`]),
    "timeout=60,",
  ];
  return [
    ...(needsKey ? ["import os", ""] : []),
    "import requests",
    "",
    `response = requests.${method.toLowerCase()}(`,
    ...options.map((option) => `    ${option}`),
    ")",
    "response.raise_for_status()",
    "print(response.text)",
  ].join("\n");
}

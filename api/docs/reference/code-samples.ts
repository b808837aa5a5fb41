import { asObject, asText } from "../../operation/json-object.ts";
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
  /** Name of the file that is sent as the body. */
  readonly file?: string;
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
  const { "application/json": json, "application/octet-stream": file } = bodiesOf(operation);
  const { example: body } = asObject(json);
  const { security } = operation.described;
  return {
    method: operation.method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    needsKey: !(Array.isArray(security) && security.length === 0),
    ...(body === undefined ? {} : { body }),
    ...(file === undefined ? {} : { file: fileNameOf(operation) }),
  };
}

/** The name that the query gives the file. */
function fileNameOf(operation: DescribedOperation): string {
  const name = parametersIn(operation, "query").find((parameter) => parameter["name"] === "name");
  return asText(name?.["example"]) || "file";
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

function inCurl({ method, needsKey, body, file }: SampleCall, url: string): string {
  const hasBody = body !== undefined || file !== undefined;
  const isPlain = method === "GET" || (method === "POST" && hasBody);
  const lines = [
    `curl ${isPlain ? "" : `-X ${method} `}"${url}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quoted(body)}`]),
    ...(file === undefined
      ? []
      : ['-H "Content-Type: application/octet-stream"', `--data-binary @${file}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoted(body: unknown): string {
  return `'${literal(body, JSON_STYLE).replaceAll("'", String.raw`'\''`)}'`;
}

function inTypescript({ method, needsKey, body, file }: SampleCall, url: string): string {
  const key = "Authorization: `Bearer ${process.env.API_KEY}`";
  const keyLine = needsKey ? [`    ${key},\n`] : [];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}",`]),
    ...(body === undefined
      ? needsKey
        ? [`headers: { ${key} },`]
        : []
      : [
          `headers: {\n${keyLine.join("")}    "Content-Type": "application/json",\n  },`,
          `body: JSON.stringify(${literal(body, TYPESCRIPT_STYLE, 2)}),`,
        ]),
    ...(file === undefined ? [] : [`body: await openAsBlob("${file}"),`]),
  ];
  const sent = options.length === 0 ? "" : `, {\n  ${options.join("\n  ")}\n}`;
  return [
    ...(file === undefined ? [] : ['const { openAsBlob } = await import("node:fs");']),
    `const response = await fetch("${url}"${sent});`,
    "if (!response.ok) throw new Error(await response.text());",
    "console.log(await response.text());",
  ].join("\n");
}

function inPython({ method, needsKey, body, file }: SampleCall, url: string): string {
  const options = [
    `"${url}",`,
    ...(needsKey ? [`headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},`] : []),
    ...(body === undefined ? [] : [`json=${literal(body, PYTHON_STYLE, 4)},`]),
    ...(file === undefined ? [] : [`data=open("${file}", "rb"),`]),
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

import { asObject, type Json } from "../../operation/json-object.ts";

const JSON_TYPE = "application/json";
const CSV_TYPE = "text/csv";
const FILE_TYPE = "application/octet-stream";

/** What the generators of both clients need to know about an operation. */
export type ClientOperation = {
  /** operationId. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly pathParameters: readonly Json[];
  readonly queryParameters: readonly Json[];
  /** Schemas of the JSON body and the JSON answer. */
  readonly body: Json | undefined;
  readonly answer: Json;
  /** Whether the body or the answer may be CSV instead. */
  readonly csvBody: boolean;
  readonly csvAnswer: boolean;
  /** Whether the body is a file. */
  readonly fileBody: boolean;
  readonly isPaged: boolean;
};

/**
 * The document without what the generated types do not show: examples, headers of answers, and failures, which clients throw. Answers may
 * gain fields, so no object is closed.
 */
export function clientDocument(document: Json): Json {
  const paths = Object.entries(asObject(document["paths"])).map(
    ([path, methods]): [string, Json] => [
      path,
      Object.fromEntries(
        Object.entries(asObject(methods)).flatMap(([method, operation]) => {
          const isJson = JSON_TYPE in contentOf(successOf(asObject(operation)));
          return isJson ? [[method, withSuccessOnly(asObject(operation))]] : [];
        }),
      ),
    ],
  );
  const { schemas } = asObject(document["components"]);
  return asObject(
    plain({ ...document, paths: Object.fromEntries(paths), components: { schemas } }),
  );
}

export function clientOperations(document: Json): ClientOperation[] {
  return Object.entries(asObject(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).map(([method, value]) =>
      clientOperation({ path, method }, asObject(value)),
    ),
  );
}

function clientOperation(
  { path, method }: { readonly path: string; readonly method: string },
  operation: Json,
): ClientOperation {
  const parameters = Array.isArray(operation["parameters"])
    ? operation["parameters"].map(asObject)
    : [];
  const body = contentOf(asObject(operation["requestBody"]));
  const answer = contentOf(successOf(operation));
  const queryParameters = parameters.filter((one) => one["in"] === "query");
  return {
    name: String(operation["operationId"]),
    method: method.toUpperCase(),
    path,
    summary: String(operation["summary"]),
    pathParameters: parameters.filter((one) => one["in"] === "path"),
    queryParameters,
    body: JSON_TYPE in body ? asObject(asObject(body[JSON_TYPE])["schema"]) : undefined,
    answer: asObject(asObject(answer[JSON_TYPE])["schema"]),
    csvBody: CSV_TYPE in body,
    csvAnswer: CSV_TYPE in answer,
    fileBody: FILE_TYPE in body,
    isPaged: queryParameters.some((one) => one["name"] === "cursor"),
  };
}

function withSuccessOnly(operation: Json): Json {
  const responses = Object.entries(asObject(operation["responses"]))
    .filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => [status, { ...asObject(response), headers: undefined }]);
  return { ...operation, responses: Object.fromEntries(responses) };
}

function successOf(operation: Json): Json {
  const responses = Object.entries(asObject(operation["responses"]));
  return asObject(responses.find(([status]) => status.startsWith("2"))?.[1]);
}

function contentOf(holder: Json): Json {
  return asObject(holder["content"]);
}

/** Drops examples and closed objects. A field with such a name is an object, and stays. */
function plain(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(plain);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, value]) => {
      if (name === "example" || (name === "examples" && Array.isArray(value))) return [];
      return name === "additionalProperties" && value === false ? [] : [[name, plain(value)]];
    }),
  );
}

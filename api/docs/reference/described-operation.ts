import { asObject, asText, type Json } from "../../operation/json-object.ts";

/** An operation of an OpenAPI document. */
export type DescribedOperation = {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  /** Its name for people, such as "Create an offer". */
  readonly name: string;
  readonly described: Json;
};

/** The operations of an OpenAPI document, in its order. */
export function operationsOf(document: Json): DescribedOperation[] {
  return Object.entries(asObject(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).map(([method, value]) => {
      const described = asObject(value);
      const { operationId, summary } = described;
      return {
        method: method.toUpperCase(),
        path,
        id: asText(operationId),
        name: asText(summary),
        described,
      };
    }),
  );
}

export function parametersIn(
  operation: DescribedOperation,
  place: "path" | "query" | "header",
): Json[] {
  const { parameters } = operation.described;
  const all = Array.isArray(parameters) ? parameters.map(asObject) : [];
  return all.filter((parameter) => parameter["in"] === place);
}

/** The media types of the body, with their schemas and examples. */
export function bodiesOf({ described }: DescribedOperation): Readonly<Record<string, Json>> {
  const content = asObject(asObject(described["requestBody"])["content"]);
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, asObject(media)]),
  );
}

/** The answers of success by status. */
export function successesOf({ described }: DescribedOperation): [status: string, response: Json][] {
  return Object.entries(asObject(described["responses"]))
    .filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => [status, asObject(response)]);
}

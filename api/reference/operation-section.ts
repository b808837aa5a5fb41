import { escapeMarkup } from "../../schemas/macros/escape-markup.ts";
import { asObject, asText, type Json } from "../rest/openapi-schemas.ts";
import { inlineProse, prose } from "./html.ts";
import { meaningOf, schemaTable, typeText } from "./schema-table.ts";

export type DescribedOperation = {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly described: Json;
};

/** The operations of an OpenAPI document, in its order. */
export function operationsOf(document: Json): DescribedOperation[] {
  return Object.entries(asObject(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).map(([method, value]) => {
      const described = asObject(value);
      const { operationId, tags, summary } = described;
      return {
        method: method.toUpperCase(),
        path,
        id: asText(operationId),
        tag: Array.isArray(tags) ? asText(tags[0]) : "",
        summary: asText(summary),
        described,
      };
    }),
  );
}

export function operationSection(document: Json, operation: DescribedOperation): string {
  const { described, id, method, path, summary } = operation;
  return `<article id="${escapeMarkup(id)}">
    <h3><span class="method">${method}</span> <code>${escapeMarkup(path)}</code></h3>
    <p><strong>${inlineProse(summary)}</strong> <span class="dim">${escapeMarkup(id)}</span></p>
    ${prose(asText(described["description"]))}
    ${parametersTable(described["parameters"])}
    ${requestPart(asObject(described["requestBody"]))}
    ${Object.entries(asObject(described["responses"]))
      .filter(([status]) => status.startsWith("2"))
      .map(([status, response]) => successPart(status, asObject(response)))
      .join("")}
    ${failuresPart(document, asObject(described["responses"]))}
  </article>`;
}

function parametersTable(parameters: unknown): string {
  if (!Array.isArray(parameters) || parameters.length === 0) return "";
  const rows = parameters.map(asObject).map((parameter) => {
    const schema = asObject(parameter["schema"]);
    const { name, in: place, description } = parameter;
    const text = meaningOf({ ...schema, ...(description === undefined ? {} : { description }) });
    return `<tr><td><code>${escapeMarkup(asText(name))}</code>${place === "path" ? " *" : ""}</td>
      <td>${typeText(schema)}</td><td>${text}</td></tr>`;
  });
  return `<h4>Parameters of path (*) and query</h4>
    <table><tr><th>Name</th><th>Type</th><th>Meaning</th></tr>${rows.join("")}</table>`;
}

function requestPart(body: Json): string {
  const media = asObject(asObject(body["content"])["application/json"]);
  if (media["schema"] === undefined) return "";
  return `<details><summary>Body (* required)</summary>${schemaTable(asObject(media["schema"]))}
    ${exampleBlock(media["example"])}</details>`;
}

function successPart(status: string, response: Json): string {
  const content = Object.entries(asObject(response["content"]));
  const parts = content.map(([type, value]) => {
    const media = asObject(value);
    return `<p class="dim">${escapeMarkup(type)}</p>${schemaTable(asObject(media["schema"]))}${exampleBlock(media["example"])}`;
  });
  return `<details><summary>Answer ${escapeMarkup(status)}</summary>${parts.join("")}</details>`;
}

function exampleBlock(example: unknown): string {
  if (example === undefined) return "";
  return `<h4>Example</h4><pre><code>${escapeMarkup(JSON.stringify(example, null, 2))}</code></pre>`;
}

function failuresPart(document: Json, responses: Json): string {
  const shared = asObject(asObject(document["components"])["responses"]);
  const rows = Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, response]) => {
      const reference = asText(asObject(response)["$ref"]);
      const { description } = asObject(shared[reference.slice(reference.lastIndexOf("/") + 1)]);
      return `<tr><td>${escapeMarkup(status)}</td><td>${prose(asText(description))}</td></tr>`;
    });
  return `<details><summary>Failures</summary><table>${rows.join("")}</table></details>`;
}

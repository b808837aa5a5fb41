import { expect, test } from "vitest";
import { asObject, asText, type Json } from "../../operation/json-object.ts";
import { operations } from "../../operations.ts";
import { buildOpenApi } from "../openapi/openapi.ts";
import { FIELD_NOTES } from "./field-notes.ts";

/** Every field of every object in a JSON document, with its path. */
function fieldsIn(value: unknown, place: string): { place: string; field: Json }[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.entries(value).filter(([name]) => name !== "example" && name !== "examples");
  return parts.flatMap(([name, part]) =>
    name === "properties"
      ? Object.entries(asObject(part)).flatMap(([field, schema]) => [
          { place: `${place} ${field}`, field: asObject(schema) },
          ...fieldsIn(schema, `${place} ${field}`),
        ])
      : fieldsIn(part, place),
  );
}

function parametersIn({ paths }: Json): { place: string; field: Json }[] {
  return Object.entries(asObject(paths)).flatMap(([path, methods]) =>
    Object.values(asObject(methods)).flatMap((operation) => {
      const { parameters } = asObject(operation);
      return Array.isArray(parameters)
        ? parameters
            .map(asObject)
            .map((field) => ({ place: `${path} ${asText(field["name"])}`, field }))
        : [];
    }),
  );
}

const document = buildOpenApi({ operations, baseUrl: "https://api.example/api/v1" });
const described = [
  ...fieldsIn(asObject(document["components"])["schemas"], "").filter(
    ({ field }) => !("$ref" in field),
  ),
  ...Object.entries(asObject(document["paths"])).flatMap(([path, methods]) =>
    fieldsIn(methods, path).filter(({ field }) => !("$ref" in field)),
  ),
  ...parametersIn(document).filter(({ field }) => field["in"] === "query"),
];

test("every field that is sent or answered says what it means", () => {
  expect(described.length).toBeGreaterThan(900);
  const silent = described.filter(({ field }) => !field["description"]).map(({ place }) => place);
  expect(silent).toEqual([]);
});

test("every note is on a field", () => {
  // A field of a body also says its default.
  const descriptions = new Set(
    described.map(({ field }) => asText(field["description"]).replace(/; `.+` by default$/, "")),
  );
  const idle = [...FIELD_NOTES].filter(([, note]) => !descriptions.has(note));
  expect(idle.map(([key]) => key)).toEqual([]);
});

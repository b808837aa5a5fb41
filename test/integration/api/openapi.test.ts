import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { asObject, type Json } from "../../../api/operation/json-object.ts";
import { operations } from "../../../api/operations.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ApiWorld } from "./api-world.ts";

const world = await forThisFile(ApiWorld.open());
const document = (await world.call("GET", "/openapi.json", { key: undefined })).body;

test("the document is valid OpenAPI 3.1 (OAS-001)", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("a linter finds no problem in references, examples and descriptions (OAS-001)", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
});

test("the example of a body is accepted by its operation", () => {
  const refused = operations.flatMap(({ name, method, path, input }) => {
    const described = member(document, "paths", path, method.toLowerCase(), "requestBody");
    const { example } = member(described, "content", "application/json");
    const faults = input.body?.safeParse(example).error?.issues ?? [];
    return faults.map(({ path: field, message }) => [name, field.join("."), message]);
  });
  expect(refused).toEqual([]);
});

test("every operation lists the roles that may call it, and every answer has an example (OAS-002)", () => {
  expect(Object.keys(asObject(document["paths"])).length).toBeGreaterThan(50);
  for (const { name, method, path, access, status } of operations) {
    const described = member(document, "paths", path, method.toLowerCase());
    expect(described["operationId"]).toBe(name);
    const who =
      access.callers === undefined || access.callers === "members"
        ? `Roles: ${access.roles.join(", ")}.`
        : /Not for keys|Needs neither key nor session/;
    expect(described["description"], name).toMatch(who);
    const responses = asObject(described["responses"]);
    expect(Object.keys(responses), name).toEqual(
      expect.arrayContaining([String(status), "401", "403", "429", "500", "503", "default"]),
    );
    const success = member(responses, String(status), "content", "application/json");
    expect(Object.keys(success), name).toEqual(["schema", "example"]);
  }
});

test("report parameters are lists, enums and bounded numbers, and CSV has a schema of its own (OAS-002)", () => {
  const { parameters, responses } = member(document, "paths", "/reports", "get");
  const named: Json = Object.fromEntries(
    (Array.isArray(parameters) ? parameters : []).map((one: unknown): [string, unknown] => [
      String(asObject(one)["name"]),
      one,
    ]),
  );
  expect(named).toMatchObject({
    group_by: {
      style: "form",
      explode: false,
      schema: {
        type: "array",
        maxItems: 3,
        items: { $ref: "#/components/schemas/ReportDimension" },
      },
    },
    metrics: { explode: false, schema: { items: { $ref: "#/components/schemas/ReportMetric" } } },
    sort: { schema: { $ref: "#/components/schemas/ReportSort" } },
    preset: { schema: { $ref: "#/components/schemas/Preset" } },
    limit: { schema: { type: "integer", minimum: 1, maximum: 10_000 } },
    offset: { schema: { type: "integer", minimum: 0 } },
    format: { schema: { enum: ["json", "csv"] } },
    from: { schema: { anyOf: [{ format: "date" }, { format: "date-time" }] } },
  });
  const content = member(asObject(responses), "200", "content");
  expect(content).toMatchObject({
    "application/json": { schema: { type: "object" } },
    "text/csv": { schema: { type: "string", contentMediaType: "text/csv" } },
  });
  const { enum: dimensions } = member(document, "components", "schemas", "ReportDimension");
  expect(dimensions).toContain("offer");
});

test("the values that the document names for reports are accepted by the service", async () => {
  const names = (schema: string): readonly unknown[] => {
    const { enum: all } = member(document, "components", "schemas", schema);
    return Array.isArray(all) ? all : [];
  };
  const dimensions = names("ReportDimension");
  const queries = [
    `metrics=${names("ReportMetric").join(",")}`,
    ...names("Preset").map((preset) => `metrics=clicks&preset=${String(preset)}`),
    ...dimensions.flatMap((_, index) =>
      index % 3 === 0 ? [`limit=1&group_by=${dimensions.slice(index, index + 3).join(",")}`] : [],
    ),
  ];
  expect(queries.length).toBeGreaterThan(20);
  for (const query of queries)
    expect((await world.get(`/reports?${query}`)).status, query).toBe(200);
});

function member(value: Json, ...names: readonly string[]): Json {
  return names.reduce<Json>((inner, name) => asObject(inner[name]), value);
}

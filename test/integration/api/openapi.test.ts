import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";
import { expect, test } from "vitest";
import { operations } from "../../../api/operations.ts";
import { asObject, type Json } from "../../../api/rest/openapi-schemas.ts";
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
    expect(described["description"], name).toContain(`Roles: ${access.roles.join(", ")}.`);
    const responses = asObject(described["responses"]);
    expect(Object.keys(responses), name).toEqual(
      expect.arrayContaining([String(status), "401", "403", "429", "500", "503", "default"]),
    );
    const success = member(responses, String(status), "content", "application/json");
    expect(Object.keys(success), name).toEqual(["schema", "example"]);
  }
});

/** A program against a generated client; every line that expects an error must have one. */
const PROGRAM = `
import type { paths, components } from "./client.ts";
type Offers = paths["/offers"]["get"]["responses"][200]["content"]["application/json"];
type NewOffer = NonNullable<paths["/offers"]["post"]["requestBody"]>["content"]["application/json"];
type Refused = paths["/offers"]["post"]["responses"][400]["content"]["application/json"];
export const body: NewOffer = { name: "Shoes", advertiser_id: 1, destination_url: "https://a.example/", payout: "10" };
export const limit: NonNullable<NonNullable<paths["/offers"]["get"]["parameters"]["query"]>["limit"]> = 50;
export function firstPayout(list: Offers): string | undefined { return list.data[0]?.payout; }
export function isWrong({ error }: Refused): boolean { return error.code === "validation_failed"; }
export const status: components["schemas"]["Offer"]["status"] = "paused";
// @ts-expect-error money is text
export const asNumber: NewOffer = { ...body, payout: 10 };
// @ts-expect-error no such status
export const noStatus: components["schemas"]["Offer"]["status"] = "deleted";
// @ts-expect-error this code belongs to another status
export function isMissing({ error }: Refused): boolean { return error.code === "not_found"; }
`;

test("a generated client compiles, and so does a program that uses it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tracker-client-"));
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the two tests above check that it is such a document
    const source = await openapiTypescript(document as never, { silent: true });
    await writeFile(join(folder, "client.ts"), astToString(source));
    await writeFile(join(folder, "program.ts"), PROGRAM);
    const program = ts.createProgram([join(folder, "program.ts")], {
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: [],
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
    });
    const faults = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    expect(faults).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

function member(value: Json, ...names: readonly string[]): Json {
  return names.reduce<Json>((inner, name) => asObject(inner[name]), value);
}

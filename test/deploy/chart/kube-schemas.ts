import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Definition = { readonly [key: string]: Json };

const Kind = z.object({ group: z.string(), version: z.string(), kind: z.string() });
const Swagger = z.object({
  definitions: z.record(
    z.string(),
    z.looseObject({ "x-kubernetes-group-version-kind": z.array(Kind).optional() }),
  ),
});
/** The part of a CustomResourceDefinition that says what a resource looks like. */
const Crd = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string(), plural: z.string() }),
    versions: z.array(
      z.object({
        name: z.string(),
        schema: z.object({ openAPIV3Schema: z.record(z.string(), z.unknown()) }),
      }),
    ),
  }),
});

/** JSON schemas of every kind, by the file name that kubeconform looks for. A field that Kubernetes does not know is a fault. */
export function kubeSchemas(swaggerFile: string, crdFolders: readonly string[]): [string, Json][] {
  const swagger = Swagger.parse(JSON.parse(readFileSync(swaggerFile, "utf8")));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file is JSON
  const definitions = strict(swagger.definitions as Definition);
  const builtIn = Object.entries(swagger.definitions).flatMap(([name, definition]) =>
    (definition["x-kubernetes-group-version-kind"] ?? []).map((kind): [string, Json] => [
      fileOf(kind),
      { $ref: `#/definitions/${name}`, definitions },
    ]),
  );
  return [...builtIn, ...crdFolders.flatMap(crdFiles).flatMap(crdSchemas)];
}

/** The CustomResourceDefinitions in a folder that define objects of the chart. */
export function crdFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => /_(podmonitors|prometheusrules|httproutes)\.yaml$/.test(file))
    .map((file) => join(folder, file));
}

function crdSchemas(file: string): [string, Json][] {
  const { spec } = Crd.parse(parse(readFileSync(file, "utf8")));
  return spec.versions.map(({ name, schema }) => [
    fileOf({ group: spec.group, version: name, kind: spec.names.kind }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file is YAML without tags
    strict(schema.openAPIV3Schema as Definition),
  ]);
}

function fileOf({ group, version, kind }: z.infer<typeof Kind>): string {
  const parts = [kind, group.split(".")[0], version].filter((part) => part !== "");
  return `${parts.join("-").toLowerCase()}.json`;
}

/** Refuses unknown fields, and admits both forms of what Kubernetes calls int-or-string. */
function strict(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(strict);
  if (value["format"] === "int-or-string" || value["x-kubernetes-int-or-string"] === true) {
    return { type: ["integer", "string"] };
  }
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, strict(one)]));
  const isOpen =
    value["properties"] === undefined ||
    value["additionalProperties"] !== undefined ||
    value["x-kubernetes-preserve-unknown-fields"] === true;
  if (isOpen || typeof value["properties"] !== "object") return inner;
  return { ...inner, additionalProperties: false };
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

import { asObject, type Json } from "../../operation/json-object.ts";
import { type DescribedOperation, successesOf } from "./described-operation.ts";

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/** Where each named schema is described: on the first page with an operation that answers it, else with the schema that contains it. */
export function schemaHomes(
  document: Json,
  pages: readonly { readonly path: string; readonly operations: readonly DescribedOperation[] }[],
): ReadonlyMap<string, string> {
  const schemas = asObject(asObject(document["components"])["schemas"]);
  const homes = new Map<string, string>();
  const settle = (value: unknown, path: string): string[] => {
    const names = namesIn(value).filter((name) => !homes.has(name));
    for (const name of names) homes.set(name, path);
    return names;
  };
  const settled = pages.flatMap(({ path, operations }) =>
    operations.flatMap((operation) => settle(successesOf(operation), path)),
  );
  // Grows while it is walked, by at most one entry for each schema.
  for (const name of settled) settled.push(...settle(schemas[name], homes.get(name) ?? ""));
  return homes;
}

function namesIn(value: unknown): string[] {
  const found = JSON.stringify(value ?? null).matchAll(REFERENCE);
  return [...new Set([...found].map(([, name = ""]) => name))];
}

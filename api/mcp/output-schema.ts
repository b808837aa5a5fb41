import { HIDDEN_FROM } from "../access/visibility.ts";
import { outputSchema } from "../docs/openapi/openapi-schemas.ts";
import { asObject, type Json } from "../operation/json-object.ts";
import type { Role } from "../operation/permissions.ts";
import type { Tool } from "./tools.ts";

/** The schema of a tool's `structuredContent`: the REST answer's, without the fields that the role never gets. */
export function outputSchemaOf({ operation }: Tool, role: Role): Json {
  // The protocol asks for the type at the root, where an answer of several shapes has only `anyOf`.
  return { type: "object", ...asObject(shownTo(role, outputSchema(operation.output))) };
}

function shownTo(role: Role, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => shownTo(role, one));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([name, value]) => name !== HIDDEN_FROM && !isHiddenFrom(role, value))
      .map(([name, value]) => [name, shownTo(role, value)]),
  );
}

/** Hidden fields are optional in the schema, so leaving one out keeps the rest valid. */
function isHiddenFrom(role: Role, schema: unknown): boolean {
  const roles = asObject(schema)[HIDDEN_FROM];
  return Array.isArray(roles) && roles.includes(role);
}

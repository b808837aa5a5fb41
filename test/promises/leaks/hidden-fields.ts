import { HIDDEN_FROM } from "../../../api/access/visibility.ts";
import { VISIBILITY } from "../../../api/access/visibility-table.ts";
import { buildOpenApi } from "../../../api/docs/openapi/openapi.ts";
import { asObject, type Json } from "../../../api/operation/json-object.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { Role } from "../../../api/operation/permissions.ts";
import { operations } from "../../../api/operations.ts";

type Hidden = Partial<Record<Role, readonly string[]>>;

const document = buildOpenApi({ operations, baseUrl: "http://localhost/api/v1" });

/** Fields that a role sees in no resource. No answer to this role may contain their names. */
export function neverShown(role: Role): ReadonlySet<string> {
  const tables = Object.values(VISIBILITY)
    .map(
      ({
        fields,
        hidden,
      }): { fields: readonly string[]; hidden: readonly string[] | undefined } => {
        const byRole: Hidden = hidden;
        return { fields, hidden: byRole[role] };
      },
    )
    .filter(({ hidden }) => hidden !== undefined);
  const seen = new Set(
    tables.flatMap(({ fields, hidden }) =>
      fields.filter((field) => hidden?.includes(field) !== true),
    ),
  );
  return new Set(tables.flatMap(({ hidden = [] }) => hidden.filter((field) => !seen.has(field))));
}

/** Every key, at any depth, of a JSON value, except keys whose value is an empty object. */
export function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  return Object.entries(asObject(value)).flatMap(([key, inner]) => [
    ...(isEmptyObject(inner) ? [] : [key]),
    ...keysOf(inner),
  ]);
}

/** `extra` of a click is a separate field that is `{}` for a role that sees none of it. */
function isEmptyObject(value: unknown): boolean {
  return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}

/** Paths of fields in an answer that this role must never get according to the OpenAPI document. */
export function hiddenIn(operation: Operation, role: Role, body: unknown): string[] {
  const described = asObject(
    asObject(asObject(document["paths"])[operation.path])[operation.method.toLowerCase()],
  );
  const response = asObject(asObject(described["responses"])[String(operation.status)]);
  const { schema } = asObject(asObject(response["content"])["application/json"]);
  return hiddenBySchema(asObject(schema), role, body);
}

function hiddenBySchema(reference: Json, role: Role, value: unknown): string[] {
  const schema = resolved(reference);
  if (Array.isArray(value)) {
    return value.flatMap((item) => hiddenBySchema(asObject(schema["items"]), role, item));
  }
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) {
    return choices.flatMap((choice) => hiddenBySchema(asObject(choice), role, value));
  }
  const properties = asObject(schema["properties"]);
  return Object.entries(asObject(value)).flatMap(([name, inner]) => {
    const property = asObject(properties[name]);
    const roles: unknown = property[HIDDEN_FROM];
    const isHidden = Array.isArray(roles) && roles.includes(role);
    return [
      ...(isHidden ? [name] : []),
      ...hiddenBySchema(property, role, inner).map((path) => `${name}.${path}`),
    ];
  });
}

function resolved(schema: Json): Json {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  return asObject(asObject(asObject(document["components"])["schemas"])[name]);
}

import { refusalOfAccess } from "../access/authorize.ts";
import { parameterSchemas } from "../docs/openapi/openapi-schemas.ts";
import type { Json } from "../operation/json-object.ts";
import { parameterNames } from "../operation/parameters.ts";
import type { Role } from "../operation/permissions.ts";
import type { Principal } from "../operation/principal.ts";
import { reportScope } from "../reports/caller.ts";
import type { ReportRole } from "../reports/report-scope.ts";
import { outputSchemaOf } from "./output-schema.ts";
import { TOOLS, type Tool, type ToolArgument } from "./tools.ts";

type Schemas = { readonly inputSchema: Json; readonly outputSchema: Json };

const SCHEMAS = new Map<Role, ReadonlyMap<Tool, Schemas>>();

/**
 * The answer of `tools/list`. The ten tools are listed to every key (T43); the description of a tool that the key may not call says so, so
 * that an assistant does not try it.
 */
export function describeTools(principal: Principal): readonly Json[] {
  const schemas = schemasFor(principal);
  return TOOLS.map((tool) => {
    const { name, title, description, operation } = tool;
    const refusal = refusalOfAccess(principal, operation.access);
    return {
      name,
      title,
      description:
        refusal === undefined ? description : `Do not call it: ${refusal.message}. ${description}`,
      ...schemas.get(tool),
      annotations: { title, readOnlyHint: true, openWorldHint: false },
    };
  });
}

/** The schemas of all tools, made once for each role: names of dimensions, metrics and fields depend on it. */
function schemasFor(principal: Principal): ReadonlyMap<Tool, Schemas> {
  const { role } = principal;
  const known = SCHEMAS.get(role);
  if (known !== undefined) return known;
  const { role: reportRole } = reportScope(principal);
  const made = new Map(
    TOOLS.map((tool) => [
      tool,
      { inputSchema: inputSchemaOf(tool, reportRole), outputSchema: outputSchemaOf(tool, role) },
    ]),
  );
  SCHEMAS.set(role, made);
  return made;
}

function inputSchemaOf(tool: Tool, role: ReportRole): Json {
  const { name: operation, input } = tool.operation;
  const declared = {
    ...parameterSchemas(input.path, operation),
    ...parameterSchemas(input.query, operation),
  };
  const named = Object.entries(tool.arguments);
  const properties = named.map(([name, argument]) => [
    name,
    argumentSchema(argument, declared[name] ?? {}, role),
  ]);
  const required = named.flatMap(([name, { isRequired }]) => (isRequired === true ? [name] : []));
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(properties),
      ...(tool.acceptsParams ? { params: paramsSchema(tool) } : {}),
    },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function argumentSchema(argument: ToolArgument, declared: Json, role: ReportRole): Json {
  const description = argument.description ?? declared["description"];
  const described = description === undefined ? {} : { description };
  switch (argument.kind) {
    case "text":
      return {
        ...textForm(declared),
        ...described,
        ...(argument.words === undefined ? {} : { enum: argument.words }),
      };
    case "reference":
      return { ...described, anyOf: [{ type: "string" }, { type: "integer" }] };
    case "limit": {
      const { max, defaultValue } = argument;
      const bounds = { minimum: 1, maximum: max, default: defaultValue };
      return { type: "integer", ...bounds, description: argument.description ?? "Records a page" };
    }
    case "list": {
      const items = { type: "string", enum: argument.words(role) };
      return { ...described, type: "array", items };
    }
  }
}

/** Arguments are sent as text, also those that REST describes as lists, numbers or choices. */
function textForm(declared: Json): Json {
  return declared["type"] === "string" ? declared : { type: "string" };
}

function paramsSchema(tool: Tool): Json {
  const { method, path, name: operation, input } = tool.operation;
  const declared = parameterSchemas(input.query, operation);
  const properties = Object.fromEntries(
    extraParams(tool).map((name) => {
      const { description, enum: words } = declared[name] ?? {};
      return [
        name,
        { type: "string", ...(words === undefined ? {} : { enum: words }), description },
      ];
    }),
  );
  return {
    type: "object",
    description: `Further query parameters of ${method} ${path}, as text`,
    properties,
    additionalProperties: { type: "string" },
  };
}

/** Query parameters that are not arguments of the tool. */
export function extraParams({ operation, arguments: named, withheld = [] }: Tool): string[] {
  return parameterNames(operation.input.query).filter(
    (name) => !Object.hasOwn(named, name) && !withheld.includes(name),
  );
}

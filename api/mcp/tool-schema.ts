import type { ReportRole } from "../reports/report-scope.ts";
import { type Json, parameterNames, parameterSchemas } from "../rest/openapi-schemas.ts";
import { TOOLS, type Tool, type ToolArgument } from "./tools.ts";

const DESCRIBED = new Map<ReportRole, readonly Json[]>();

/** The answer of `tools/list`. Names of dimensions and metrics depend on the role; the list of tools is the same for all (T43). */
export function describeTools(role: ReportRole): readonly Json[] {
  const known = DESCRIBED.get(role);
  if (known !== undefined) return known;
  const described = TOOLS.map((tool) => describeTool(tool, role));
  DESCRIBED.set(role, described);
  return described;
}

function describeTool(tool: Tool, role: ReportRole): Json {
  const { name, title, description } = tool;
  return {
    name,
    title,
    description,
    inputSchema: inputSchemaOf(tool, role),
    annotations: { title, readOnlyHint: true, openWorldHint: false },
  };
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
        ...declared,
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

function paramsSchema(tool: Tool): Json {
  const { method, path, name: operation, input } = tool.operation;
  const declared = parameterSchemas(input.query, operation);
  const properties = Object.fromEntries(
    extraParams(tool).map((name) => {
      const { description } = declared[name] ?? {};
      return [name, { type: "string", description }];
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

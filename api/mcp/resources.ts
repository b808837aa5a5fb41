import { noteInAuditLog } from "../access/audit-log.ts";
import { authorize, refusalOfAccess } from "../access/authorize.ts";
import { problemOf } from "../http/problem.ts";
import { readInput } from "../http/request-input.ts";
import type { RunOperation } from "../http/run-operation.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { Json } from "../operation/json-object.ts";
import type { Operation, OperationContext } from "../operation/operation.ts";
import { parameterNames } from "../operation/parameters.ts";
import type { Principal } from "../operation/principal.ts";
import { getTimeseries } from "../reports/get-timeseries.ts";
import { listDimensions, listMetrics } from "../reports/list-definitions.ts";
import type { RPC_ERRORS } from "./json-rpc.ts";

const URI_CHARACTERS_MAX = 4_096;
const SCHEME = "tracker://";
const JSON_TYPE = "application/json";

/** A GET operation that assistants read as a document. `tracker://<path>?<query>` has the parameters of REST. */
type Source = {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly operation: Operation;
  /** Query strings that are listed as documents of their own. */
  readonly listed: readonly { readonly query: string; readonly title: string }[];
};

const SOURCES: readonly Source[] = [
  {
    path: "timeseries",
    title: "Time series",
    description:
      "Metrics by day or hour, without gaps. Takes the parameters of GET /reports/timeseries",
    operation: getTimeseries,
    listed: [
      { query: "?preset=last30", title: "The last 30 days, by day" },
      { query: "?preset=today&interval=hour", title: "Today, by hour" },
    ],
  },
  {
    path: "metrics",
    title: "Metrics",
    description: "Definition, formula and dating of every metric of reports",
    operation: listMetrics,
    listed: [{ query: "", title: "What each metric means" }],
  },
  {
    path: "dimensions",
    title: "Dimensions",
    description: "Definition of every dimension of reports, and what it divides",
    operation: listDimensions,
    listed: [{ query: "", title: "What each dimension means" }],
  },
];

export type ResourceAnswer =
  | { readonly result: Json }
  | { readonly kind: keyof typeof RPC_ERRORS; readonly message: string };

/** The answer of `resources/list`: documents that this key may read. */
export function describeResources(principal: Principal): readonly Json[] {
  return sourcesFor(principal).flatMap(({ path, description, listed }) =>
    listed.map(({ query, title }) => ({
      uri: `${SCHEME}${path}${query}`,
      name: title,
      title,
      description,
      mimeType: JSON_TYPE,
    })),
  );
}

/** The answer of `resources/templates/list`. */
export function describeTemplates(principal: Principal): readonly Json[] {
  return sourcesFor(principal).flatMap(({ path, title, description, operation }) => {
    const names = parameterNames(operation.input.query);
    if (names.length === 0) return [];
    const uriTemplate = `${SCHEME}${path}{?${names.join(",")}}`;
    return [{ uriTemplate, name: title, title, description, mimeType: JSON_TYPE }];
  });
}

/** The answer of `resources/read`. It is recorded in the audit log as a call of a tool is (G177). Never rejects. */
export async function readResource(
  context: OperationContext,
  uri: unknown,
  run: RunOperation,
): Promise<ResourceAnswer> {
  const url = typeof uri === "string" && uri.length <= URI_CHARACTERS_MAX ? parsed(uri) : undefined;
  const source = SOURCES.find(({ path }) => url?.protocol === "tracker:" && url.host === path);
  if (url === undefined || source === undefined) {
    return { kind: "unknownResource", message: "there is no such resource" };
  }
  const { status, ...answer } = await documentOf(context, { source, url }, run);
  await noteInAuditLog(context, {
    principal: context.principal,
    action: `mcp:${source.path}`,
    ip: context.clientIp,
    status,
    requestId: context.requestId,
  });
  return answer;
}

async function documentOf(
  context: OperationContext,
  { source: { operation }, url }: { source: Source; url: URL },
  run: RunOperation,
): Promise<ResourceAnswer & { readonly status: number }> {
  try {
    authorize(context.principal, operation.access);
    const query = queryOf(url);
    const input = await readInput(operation, context, { path: {}, query, body: undefined });
    const result = await run(operation, context, input);
    if ("stream" in result) throw new Error(`the resource ${url.host} answered a stream`);
    const text = JSON.stringify(result.body);
    const contents = [{ uri: url.href, mimeType: JSON_TYPE, text }];
    return { result: { contents }, status: operation.status };
  } catch (error) {
    const { code, message, status } = problemOf(error, context.log);
    const kind = status >= 500 ? "internal" : "invalidParams";
    return { kind, message: `${code}: ${message}`, status };
  }
}

/** @throws {ApiError} for a parameter that is given twice. */
function queryOf(url: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) throw invalidParameter(name, "given twice");
    query[name] = value;
  }
  return query;
}

function parsed(uri: string): URL | undefined {
  return URL.canParse(uri) ? new URL(uri) : undefined;
}

function sourcesFor(principal: Principal): readonly Source[] {
  return SOURCES.filter(
    ({ operation }) => refusalOfAccess(principal, operation.access) === undefined,
  );
}

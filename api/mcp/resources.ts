import { noteInAuditLog } from "../access/audit-log.ts";
import { authorize, refusalOfAccess } from "../access/authorize.ts";
import { problemOf } from "../http/problem.ts";
import { readInput } from "../http/request-input.ts";
import type { RunOperation } from "../http/run-operation.ts";
import { invalidParameter } from "../operation/errors.ts";
import type { Json } from "../operation/json-object.ts";
import type { OperationContext } from "../operation/operation.ts";
import { parameterNames } from "../operation/parameters.ts";
import { listedNow } from "./billing-switch.ts";
import type { RPC_ERRORS } from "./json-rpc.ts";
import { SOURCES, type Source } from "./resource-sources.ts";

const URI_CHARACTERS_MAX = 4_096;
const SCHEME = "tracker://";
const JSON_TYPE = "application/json";

export type ResourceAnswer =
  | { readonly result: Json }
  | { readonly kind: keyof typeof RPC_ERRORS; readonly message: string };

/** The answer of `resources/list`: documents that this key may read. */
export async function describeResources(context: OperationContext): Promise<readonly Json[]> {
  const sources = await sourcesFor(context);
  return sources.flatMap(({ path, description, listed }) =>
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
export async function describeTemplates(context: OperationContext): Promise<readonly Json[]> {
  const sources = await sourcesFor(context);
  return sources.flatMap((source) => {
    const { path, title, description } = source;
    const names = queryNames(source);
    if (names.length === 0 && !path.includes("{")) return [];
    const query = names.length === 0 ? "" : `{?${names.join(",")}}`;
    const uriTemplate = `${SCHEME}${path}${query}`;
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
  const found = url && findSource(url);
  if (url === undefined || found === undefined) {
    return { kind: "unknownResource", message: "there is no such resource" };
  }
  const { source } = found;
  const { status, ...answer } = await documentOf(context, { ...found, url }, run);
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
  { source, path, url }: FoundSource & { readonly url: URL },
  run: RunOperation,
): Promise<ResourceAnswer & { readonly status: number }> {
  const { operation } = source;
  try {
    authorize(context.principal, operation.access);
    const query = queryOf(url, source);
    const input = await readInput(operation, context, { path, query, body: undefined });
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

type FoundSource = { readonly source: Source; readonly path: Readonly<Record<string, string>> };

/** The source of an address, with what stands for its `{id}`. */
function findSource({ protocol, host, pathname }: URL): FoundSource | undefined {
  if (protocol !== "tracker:") return undefined;
  const parts = `${host}${pathname.replace(/\/$/, "")}`.split("/");
  for (const source of SOURCES) {
    const names = source.path.split("/");
    const isSame = (name: string, place: number): boolean =>
      isPlaceholder(name) ? parts[place] !== "" : name === parts[place];
    if (names.length !== parts.length || !names.every(isSame)) continue;
    const path = new Map(
      names.flatMap((name, place) =>
        isPlaceholder(name) ? [[name.slice(1, -1), parts[place] ?? ""]] : [],
      ),
    );
    return { source, path: Object.fromEntries(path) };
  }
  return undefined;
}

function isPlaceholder(name: string): boolean {
  return name.startsWith("{");
}

/** @throws {ApiError} for a parameter that is given twice, or that no document takes. */
function queryOf(url: URL, { withheld = [] }: Source): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) throw invalidParameter(name, "given twice");
    if (withheld.includes(name)) throw invalidParameter(name, "documents are always JSON");
    query[name] = value;
  }
  return query;
}

function queryNames({ operation, withheld = [] }: Source): string[] {
  return parameterNames(operation.input.query).filter((name) => !withheld.includes(name));
}

function parsed(uri: string): URL | undefined {
  return URL.canParse(uri) ? new URL(uri) : undefined;
}

async function sourcesFor(context: OperationContext): Promise<readonly Source[]> {
  const open = SOURCES.filter(
    ({ operation }) => refusalOfAccess(context.principal, operation.access) === undefined,
  );
  return await listedNow(context, open);
}

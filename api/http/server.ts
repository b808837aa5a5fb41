import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { AccessLog } from "../../schemas/host/access-log.ts";
import type { Pool } from "../../schemas/postgres/connect.ts";
import type { Tracing } from "../../schemas/tracing/tracing.ts";
import { noteInAuditLog } from "../access/audit-log.ts";
import { ApiError, notFound } from "../operation/errors.ts";
import type {
  Operation,
  OperationResult,
  ReceivedFile,
  RequestContext,
} from "../operation/operation.ts";
import { traceRequests } from "../operation/request-trace.ts";
import {
  type Admission,
  type AdmissionDeps,
  admit,
  headersOf,
  refusalWithoutNeedOfKey,
} from "./admission.ts";
import { answerClientError, logAnswer, logAnswers, requestIdOf } from "./answer-log.ts";
import { refuseCaller, refuseStaleFields } from "./caller-refusal.ts";
import {
  type BodyLimits,
  FILE_TIMEOUT_MS,
  leaveBodiesUnread,
  limitBodies,
  receiveFile,
} from "./file-bodies.ts";
import { addJsonBodies } from "./json-body.ts";
import {
  noteUse,
  type OperationParts,
  type PeopleRequests,
  requestContextOf,
} from "./operation-context.ts";
import { endUnanswered, hasLeft, problemBody, problemOf } from "./problem.ts";
import { readInput } from "./request-input.ts";
import type { RequestMetrics } from "./request-metrics.ts";
import { addRootPage } from "./root-page.ts";
import { RestRoutes } from "./routes.ts";
import { runKept } from "./run-kept.ts";
import {
  clientLeft,
  limitStream,
  operationRunner,
  STREAM_LIMITS,
  type StreamLimits,
} from "./run-operation.ts";
import type { SessionAdmission } from "./session-admission.ts";
import type { StaticText } from "./static-text.ts";
import { parseQuery, refuseManyParameters, refuseUnknownParameters } from "./unknown-parameters.ts";

/** A document that needs no key, because it contains no data of any workspace (G04). */
export type PublicDocument = {
  /** Path below `/api/v1`. */
  readonly path: string;
  /** Awaited before the text is sent. */
  readonly prepare: () => Promise<void>;
  readonly text: StaticText;
  readonly headers: Readonly<Record<string, string>>;
};

export type RestServerOptions = AdmissionDeps &
  OperationParts & {
    readonly sessionAdmission: SessionAdmission;
    readonly people: PeopleRequests;
    readonly operations: readonly Operation[];
    readonly metrics: RequestMetrics;
    readonly documents: readonly PublicDocument[];
    /** Whether Postgres and ClickHouse belong together; undefined while unknown. */
    readonly areStoresSame?: (() => boolean | undefined) | undefined;
    readonly streamLimits?: StreamLimits | undefined;
    readonly bodyLimits?: BodyLimits | undefined;
    readonly accessLog?: AccessLog | undefined;
    readonly tracing?: Tracing | undefined;
  };

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined only until the first hook has run. */
    admission: Admission | undefined;
    /** Code of the answer; "" without an error. */
    errorCode: string;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    isPublic?: boolean;
  }
}

export const BASE_PATH = "/api/v1";
const BODY_BYTES_MAX = 1024 ** 2;
const PARAM_CHARACTERS_MAX = 500;
const JSON_TYPE = "application/json; charset=utf-8";
const CSV_MEDIA = /^text\/csv(?:\s*;|$)/i;
/** How long a check of Postgres is valid for `/health`. */
const CHECK_MS = 1_000;

/** The REST API for a list of operations. It does not listen yet. */
export function buildRestServer(options: RestServerOptions): FastifyInstance {
  const routes = new RestRoutes([
    ...options.operations,
    ...options.documents.map(({ path }) => ({ method: "GET" as const, path })),
  ]);
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: FILE_TIMEOUT_MS,
    genReqId: requestIdOf,
    clientErrorHandler: answerClientError(options.log),
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_CHARACTERS_MAX, querystringParser: parseQuery },
    // A path that cannot be decoded does not reach the hooks, so the request is admitted here.
    frameworkErrors: (error, request, reply) => {
      void answerUnrouted(options, { error, request, reply });
    },
  });
  app.decorateRequest("admission", undefined);
  app.decorateRequest("errorCode", "");
  limitBodies(app, options.bodyLimits);
  traceRequests(app, options.tracing);
  logAnswers(app, options);
  options.metrics.follow(app);
  app.removeAllContentTypeParsers();
  addJsonBodies(app);
  app.addContentTypeParser(CSV_MEDIA, { parseAs: "string" }, (request, body: string, done) => {
    try {
      done(null, readCsv(request, body));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
  app.setErrorHandler((error, request, reply) => answerProblem(options, { error, request, reply }));
  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type(JSON_TYPE)
      .send(JSON.stringify(problemBody(notFound("path")))),
  );
  addRootPage(app);
  const checkPostgres = postgresCheck(options.db);
  app.get("/health", async (_request, reply) =>
    answerHealth(options, reply, await checkPostgres()),
  );
  void app.register(async (api) => registerApi(api, options, routes), { prefix: BASE_PATH });
  return app;
}

/** @throws {ApiError} `unsupported_media_type` if the operation accepts only JSON. */
function readCsv({ routeOptions }: FastifyRequest, body: string): unknown {
  const { csvBody } = routeOptions.config.operation ?? {};
  if (csvBody === undefined)
    throw new ApiError("unsupported_media_type", "send the body as application/json");
  return csvBody.read(body);
}

async function registerApi(
  api: FastifyInstance,
  options: RestServerOptions,
  routes: RestRoutes,
): Promise<void> {
  api.addHook("onRequest", async (request, reply) => {
    const admission = await admit(request, options);
    request.admission = admission;
    reply.headers(headersOf(admission));
    const { operation, isPublic } = request.routeOptions.config;
    if (isPublic === true || operation === undefined) {
      const refusal = isPublic === true ? refusalWithoutNeedOfKey(admission) : admission.refusal;
      if (refusal !== undefined) throw refusal;
      if (request.is404) throw noRoute(routes, request);
    }
    if (operation !== undefined) {
      refuseCaller(admission, operation.access, {
        request: request.raw,
        origins: options.sessionAdmission.origins,
      });
      if (operation.path.includes("{") && routes.isNamed(pathOf(request)))
        throw noRoute(routes, request);
      const { callers, isWrite } = operation.access;
      if (callers === "anyone" && isWrite) await options.people.countAddress(admission.ip);
    }
    noteUse(options, admission);
  });
  api.addHook("onSend", async (request, reply) => {
    const { operation } = request.routeOptions.config;
    if (operation?.access.isWrite === true)
      await afterWrite(options, request, { operation, reply });
  });
  api.setNotFoundHandler(() => {
    throw notFound("path");
  });
  for (const { path, prepare, text, headers } of options.documents) {
    // In a hook, because a handler that waits also waits until its answer is sent, and reports a client that leaves as a fault.
    const route = { config: { isPublic: true }, preHandler: prepare };
    api.get(path, route, (request, reply) => {
      refuseUnknownParameters(Object.keys(queryOf(request)), []);
      return text.send(request, reply.headers(headers));
    });
  }
  for (const operation of options.operations.filter(({ fileBody }) => fileBody === undefined))
    addOperation(api, options, operation);
  await api.register(async (files) => {
    leaveBodiesUnread(files);
    for (const operation of options.operations.filter(({ fileBody }) => fileBody !== undefined))
      addOperation(files, options, operation);
  });
}

function addOperation(
  api: FastifyInstance,
  options: RestServerOptions,
  operation: Operation,
): void {
  api.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    config: { operation },
    handler: async (request, reply) =>
      await answerOperation(options, request, { operation, reply }),
  });
}

type Answering = { readonly operation: Operation; readonly reply: FastifyReply };
type Failing = {
  readonly error: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

async function answerOperation(
  options: RestServerOptions,
  request: FastifyRequest,
  { operation, reply }: Answering,
): Promise<FastifyReply> {
  const left = clientLeft(reply);
  const runOperation = operationRunner(options, left);
  const run = async (
    context: RequestContext,
    file: ReceivedFile | undefined,
  ): Promise<OperationResult> => {
    const input = await readInput(operation, context, {
      path: stringsOf(request.params),
      query: queryOf(request),
      body: request.body,
      file,
    });
    refuseStaleFields(request.admission, operation.access, input);
    return await runOperation(operation, context, input);
  };
  const file =
    operation.fileBody && receiveFile(request.raw, operation.fileBody, options.bodyLimits);
  const context = requestContextOf(options, request);
  const result = await runKept({ operation, request, file }, context, run);
  reply.header("cache-control", "no-store");
  if ("stream" in result) {
    limitStream(reply, options.streamLimits ?? STREAM_LIMITS);
    return reply
      .headers(result.headers ?? {})
      .type(result.contentType)
      .send(result.stream);
  }
  return reply
    .code(result.status ?? operation.status)
    .headers(result.headers ?? {})
    .type(JSON_TYPE)
    .send(JSON.stringify(result.body));
}

function answerProblem(
  options: RestServerOptions,
  { error, request, reply }: Failing,
): FastifyReply {
  if (hasLeft(error, request)) return endUnanswered(request, reply);
  const problem = problemOf(error, options.log.child({ request_id: request.id }));
  options.metrics.refused(problem.code);
  request.errorCode = problem.code;
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .header("cache-control", "no-store")
    .type(JSON_TYPE)
    .send(JSON.stringify(problemBody(problem)));
}

async function answerUnrouted(options: RestServerOptions, failing: Failing): Promise<void> {
  const { request, reply } = failing;
  const admission = await admit(request, options);
  reply.headers(headersOf(admission));
  // No route's hooks run for such a request.
  reply.raw.once("finish", () => logAnswer(options, request, reply));
  answerProblem(options, { ...failing, error: admission.refusal ?? failing.error });
}

/**
 * Health for the supervisor: 503 without Postgres, because then no request can be answered. Only some operations need NATS and
 * ClickHouse, so their absence is reported but the process counts as healthy.
 */
function answerHealth(
  options: RestServerOptions,
  reply: FastifyReply,
  postgres: PostgresState,
): FastifyReply {
  const nats = options.nats() === undefined ? "away" : "ok";
  const belongTogether = options.areStoresSame?.() ?? "unknown";
  return reply
    .code(postgres === "ok" ? 200 : 503)
    .type(JSON_TYPE)
    .send(
      JSON.stringify({
        status: postgres === "ok" ? "ok" : "unavailable",
        postgres,
        nats,
        stores_belong_together: belongTogether,
      }),
    );
}

type PostgresState = "ok" | "away";

/** One check serves all requests until a second after its result: `/health` needs no key and has no budget (P40). */
function postgresCheck(db: Pool): () => Promise<PostgresState> {
  let current: Promise<PostgresState> | undefined;
  const check = async (): Promise<PostgresState> => {
    const state = await db.query({ text: "select 1" }).then(
      () => "ok" as const,
      () => "away" as const,
    );
    setTimeout(() => (current = undefined), CHECK_MS).unref();
    return state;
  };
  return async () => await (current ??= check());
}

/**
 * A write may have changed keys and accounts, so the cache is cleared. Every write is recorded, including refused ones (G177), but
 * not one over the budget: otherwise a flood of them would write a row and a commit each (P40).
 */
async function afterWrite(
  options: RestServerOptions,
  request: FastifyRequest,
  { operation, reply }: Answering,
): Promise<void> {
  if (reply.statusCode < 400) {
    options.keys.forget();
    options.sessionAdmission.sessions.forget();
  }
  const { admission } = request;
  if (admission?.principal === undefined || admission.isOverBudget) return;
  await noteInAuditLog(options, {
    principal: admission.principal,
    action: `rest ${operation.method} ${request.url.split("?", 1)[0] ?? ""}`,
    ip: admission.ip,
    status: reply.statusCode,
    requestId: admission.requestId,
  });
}

/** Below the base, without the query. */
function pathOf(request: FastifyRequest): string {
  return (request.url.split("?", 1)[0] ?? "").slice(BASE_PATH.length);
}

function noRoute(routes: RestRoutes, request: FastifyRequest): ApiError {
  const path = pathOf(request);
  const allow = routes.allowed(path);
  if (allow === undefined) return notFound("path");
  return new ApiError("method_not_allowed", `${path} does not accept ${request.method}`, {
    headers: { allow },
  });
}

/** Parameters that may be repeated; their values form one list separated by commas (G67). */
const LISTS = new Set(["filters"]);

/** @throws {ApiError} `invalid_parameter` */
function queryOf({ url, query }: FastifyRequest): Record<string, string> {
  refuseManyParameters(url);
  return stringsOf(query);
}

/** Path and query parameters as text. For a repeated parameter that is not a list, the first value. */
function stringsOf(values: unknown): Record<string, string> {
  if (typeof values !== "object" || values === null) return {};
  const pairs = Object.entries(values).map(([name, value]: [string, unknown]): [string, string] => {
    const all: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = all.map((one) => (typeof one === "string" ? one : ""));
    return [name, LISTS.has(name) ? texts.join(",") : (texts[0] ?? "")];
  });
  return Object.fromEntries(pairs);
}

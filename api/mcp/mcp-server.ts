import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type JsonBounds, scanJson } from "../../schemas/json/json-bounds.ts";
import { describeExcess } from "../../schemas/json/sent-json.ts";
import {
  type Admission,
  type AdmissionDeps,
  admit,
  admitFurther,
  headersOf,
} from "../http/admission.ts";
import { contextOf, noteUse, type OperationParts } from "../http/operation-context.ts";
import { endUnanswered, hasLeft, problemOf } from "../http/problem.ts";
import { clientLeft, operationRunner, type RunOperation } from "../http/run-operation.ts";
import { ApiError } from "../operation/errors.ts";
import type { OperationContext } from "../operation/operation.ts";
import { answerRequest } from "./answer-request.ts";
import {
  type RPC_ERRORS,
  type RpcAnswer,
  type RpcMessage,
  readMessage,
  rpcError,
} from "./json-rpc.ts";
import { addProtectedResource, challengeOf, metadataUrl } from "./protected-resource.ts";

export type McpOptions = AdmissionDeps &
  OperationParts & {
    /** Values of `Origin` that are not refused (G214). */
    readonly origins: ReadonlySet<string>;
  };

const PATH = "/mcp";
const MESSAGES_MAX = 20;
/** A hundred values a message. The longest call of a tool has sixty. */
const BOUNDS: JsonBounds = { values: 100 * MESSAGES_MAX };
const JSON_TYPE = "application/json; charset=utf-8";

/** Adds the MCP server: POST only, no sessions, every answer one JSON document. */
export function addMcpServer(app: FastifyInstance, options: McpOptions): void {
  addProtectedResource(app, { apiUrl: options.settings.apiUrl, mcpPath: PATH });
  void app.register(async (mcp) => registerMcp(mcp, options), { prefix: PATH });
}

async function registerMcp(mcp: FastifyInstance, options: McpOptions): Promise<void> {
  // The body is read as JSON, whatever its content type (400 if it is not JSON).
  mcp.removeAllContentTypeParsers();
  mcp.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  mcp.addHook("onRequest", async (request, reply) => {
    const admission = await admit(request, options);
    request.admission = admission;
    reply.headers({ ...headersOf(admission), "cache-control": "no-store" });
    refuseForeignPage(options.origins, request);
    // 405 for other methods needs no key: clients try them before they send one.
    if (request.is404) throw noMethod(request);
    if (admission.refusal !== undefined) throw admission.refusal;
    noteUse(options, admission);
  });
  mcp.setNotFoundHandler((request) => {
    throw noMethod(request);
  });
  mcp.setErrorHandler((error, request, reply) => {
    if (hasLeft(error, request)) return endUnanswered(request, reply);
    const problem = problemOf(error, options.log.child({ request_id: request.id }));
    request.errorCode = problem.code;
    const text = `${problem.code}: ${problem.message}`;
    const { headers } = problem;
    const isChallenge = "www-authenticate" in headers;
    const metadata = metadataUrl(options.settings.apiUrl, PATH);
    return reply
      .code(problem.status)
      .headers(isChallenge ? { ...headers, "www-authenticate": challengeOf(metadata) } : headers)
      .type(JSON_TYPE)
      .send(JSON.stringify(rpcError(null, kindOf(problem), text)));
  });
  mcp.post("/", async (request, reply) => await answerPost(options, request, reply));
}

async function answerPost(
  options: McpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const json = parseBody(request.body);
  const batch: readonly unknown[] = Array.isArray(json) ? json : [json];
  if (batch.length === 0 || batch.length > MESSAGES_MAX) {
    const why = `a batch must contain 1 to ${MESSAGES_MAX} messages`;
    return sendJson(reply, rpcError(null, "invalidRequest", why));
  }
  const messages = batch.map(readMessage);
  const admission = await admitCalls(options, request.admission, messages);
  reply.headers(headersOf(admission));
  if (admission.refusal !== undefined) throw admission.refusal;
  const left = clientLeft(reply);
  const context = contextOf(options, { admission, trace: request.trace });
  const answers = await answerMessages(context, operationRunner(options, left), messages);
  const [first] = answers;
  if (first === undefined) return reply.code(202).send();
  return sendJson(reply, Array.isArray(json) ? answers : first);
}

/** Methods that run an operation. */
const CALLS: ReadonlySet<string> = new Set(["tools/call", "resources/read"]);

/** The request itself pays for its first call. Each further call takes one more from the budget (G174). */
async function admitCalls(
  options: McpOptions,
  admission: Admission | undefined,
  messages: readonly RpcMessage[],
): Promise<Admission> {
  if (admission === undefined) throw new Error("a request was served before it was admitted");
  const calls = messages.filter(
    (message) => message.kind === "request" && CALLS.has(message.method),
  );
  return await admitFurther(admission, options, Math.max(0, calls.length - 1));
}

/** Runs messages in order, one at a time, so that a batch loads the stores no more than a single request does. */
async function answerMessages(
  context: OperationContext,
  run: RunOperation,
  messages: readonly RpcMessage[],
): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = [];
  for (const message of messages) {
    if (message.kind === "invalid")
      answers.push(rpcError(message.id, "invalidRequest", message.why));
    if (message.kind === "request") answers.push(await answerRequest(context, message, run));
  }
  return answers;
}

/** @throws {ApiError} `invalid_json`, and `invalid_request` for more than a batch can use (G213). */
function parseBody(body: unknown): unknown {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array(0);
  const { excess } = scanJson(bytes, BOUNDS);
  if (excess !== undefined)
    throw new ApiError("invalid_request", `the body ${describeExcess(excess, BOUNDS)}`);
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- its bounds have just been checked
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new ApiError("invalid_json", "the body is not valid JSON", { cause: error });
  }
}

/**
 * Refuses pages of other origins: a page whose name suddenly has this server's address could else use it through the browser of somebody near it
 * (G214). Programs send no `Origin`. @throws {ApiError} `forbidden`
 */
function refuseForeignPage(origins: ReadonlySet<string>, { headers }: FastifyRequest): void {
  const { origin } = headers;
  if (origin === undefined || origins.has(origin.toLowerCase())) return;
  throw new ApiError("forbidden", "requests of this origin are refused; MCP_ORIGINS names more");
}

function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(body));
}

function noMethod(request: FastifyRequest): ApiError {
  const path = request.url.split("?", 1)[0];
  return path === PATH || path === `${PATH}/`
    ? new ApiError("method_not_allowed", `${PATH} accepts only POST`, {
        headers: { allow: "POST" },
      })
    : new ApiError("not_found", "there is no such path");
}

/** Requests that HTTP refuses have a JSON-RPC error as their body (T43). */
function kindOf({ code, status }: ApiError): keyof typeof RPC_ERRORS {
  if (code === "invalid_json") return "parse";
  if (status === 401 || status === 403 || status === 429) return "refused";
  return status >= 500 ? "internal" : "invalidRequest";
}

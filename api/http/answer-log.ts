import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AccessLog } from "../../schemas/host/access-log.ts";
import type { Log } from "../../schemas/host/log.ts";
import { isRequestId, newRequestId } from "../../schemas/ids/request-id.ts";
import { keyIdOf } from "../operation/principal.ts";

const REQUEST_ID = "x-request-id";
/** Supervisors ask every second. */
const HEALTH = "/health";

/** The caller's own ID if it has the form of one, else a new one (G18). */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers[REQUEST_ID];
  return typeof given === "string" && isRequestId(given) ? given : newRequestId();
}

/** Where answers are noted. */
export type AnswerLogs = { readonly log: Log; readonly accessLog?: AccessLog | undefined };

/** Every answer shows the ID of its request, and has a line in the log under it. */
export function logAnswers(app: FastifyInstance, logs: AnswerLogs): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header(REQUEST_ID, request.id);
  });
  app.addHook("onResponse", async (request, reply) => logAnswer(logs, request, reply));
}

/** The lines of one answer: no path and no query as sent, which may contain anything. */
export function logAnswer(
  { log, accessLog }: AnswerLogs,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { config, url: route = "" } = request.routeOptions;
  const { method, errorCode } = request;
  const { statusCode: status, elapsedTime: tookMs } = reply;
  const ms = Math.round(tookMs);
  const operation = config.operation?.name;
  const { principal, signedIn } = request.admission ?? {};
  const key_id = principal === undefined ? undefined : (keyIdOf(principal.actor) ?? undefined);
  const person_id = signedIn?.person.id;
  const line = { request_id: request.id, method, route, operation, status, ms, key_id, person_id };
  log[route === HEALTH ? "debug" : "info"](line, "request.answered");
  if (accessLog?.wants(status) !== true) return;
  accessLog.note({
    atMs: Date.now(),
    requestId: request.id,
    method,
    route,
    status,
    tookUs: Math.round(tookMs * 1_000),
    bytes: Number(reply.getHeader("content-length") ?? 0),
    host: request.headers.host ?? "",
    clickId: "",
    reason: errorCode,
  });
}

/** Answers what is no HTTP request, or did not arrive in time. Node calls this instead of the server's hooks. */
export function answerClientError(log: Log): (error: Error, socket: Socket) => void {
  return (error, socket) => {
    const code = "code" in error ? error.code : undefined;
    // The client is gone.
    if (code === "ECONNRESET" || socket.destroyed) return;
    const status = statusOf(code);
    const request_id = newRequestId();
    if (socket.writable) {
      const message = "this is no request that the server can read";
      const body = JSON.stringify({ error: { code: "bad_request", message } });
      const head = [
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
        "Content-Type: application/json; charset=utf-8",
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-Id: ${request_id}`,
        "Connection: close",
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
      log.info({ request_id, method: "", route: "", status, code }, "request.answered");
    }
    socket.destroy(error);
  };
}

function statusOf(code: unknown): number {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
}

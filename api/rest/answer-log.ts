import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../schemas/host/log.ts";
import { isRequestId, newRequestId } from "../../schemas/ids/request-id.ts";

const REQUEST_ID = "x-request-id";
/** Supervisors ask every second. */
const HEALTH = "/health";

/** The caller's own ID if it has the form of one, else a new one (G18). */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers[REQUEST_ID];
  return typeof given === "string" && isRequestId(given) ? given : newRequestId();
}

/** Every answer shows the ID of its request, and has a line in the log under it. */
export function logAnswers(app: FastifyInstance, log: Log): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header(REQUEST_ID, request.id);
  });
  app.addHook("onResponse", async (request, reply) => logAnswer(log, request, reply));
}

/** The line of one answer: no path and no query as sent, which may contain anything. */
export function logAnswer(log: Log, request: FastifyRequest, reply: FastifyReply): void {
  const { config, url } = request.routeOptions;
  const level = url === HEALTH ? "debug" : "info";
  log[level](
    {
      request_id: request.id,
      method: request.method,
      route: url ?? "",
      operation: config.operation?.name,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      key_id: request.admission?.principal?.keyId,
    },
    "request.answered",
  );
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

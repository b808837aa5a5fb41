import type { FastifyReply, FastifyRequest } from "fastify";
import { isClickhouseAway } from "../../schemas/clickhouse/errors.ts";
import type { Log } from "../../schemas/host/log.ts";
import { isPostgresAway } from "../../schemas/postgres/errors.ts";
import { SecretKeyError } from "../../schemas/secrets/secret-keys.ts";
import { ApiError, type ErrorDetails, unavailable } from "../operation/errors.ts";
import { ClientLeftError } from "./run-operation.ts";
import { withoutRows } from "./without-rows.ts";

/** The body of every answer other than success. */
export type ProblemBody = {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: ErrorDetails | undefined;
  };
};

/** Status of a request whose client has left before its answer, as nginx notes it. Clients never see it. */
export const STATUS_OF_LEAVING = 499;

/** Whether the client closed its connection: before its body was whole, or before a report was ready. Then nothing went wrong. */
export function hasLeft(error: unknown, { raw }: Pick<FastifyRequest, "raw">): boolean {
  return error instanceof ClientLeftError || (raw.destroyed && !raw.complete);
}

/** Ends a request that nobody waits for. The log has a line for it, as for an answer. */
export function endUnanswered(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.errorCode = "client_left";
  return reply.code(STATUS_OF_LEAVING).send();
}

/** Converts any error to what the caller may know. Details of internal faults are only in the log, under the request id. */
export function problemOf(error: unknown, log: Log): ApiError {
  // The client has left: nothing went wrong, and no one reads the answer.
  if (error instanceof ClientLeftError) return new ApiError("unavailable", error.message);
  if (error instanceof ApiError) {
    if (error.status >= 500)
      log.error({ err: withoutRows(error.cause ?? error) }, "request.failed");
    return error;
  }
  const known = problemOfFramework(codeOf(error)) ?? problemOfStore(error);
  if (known !== undefined) {
    if (known.status >= 500) log.error({ err: withoutRows(error) }, "request.failed");
    return known;
  }
  log.error({ err: withoutRows(error) }, "request.failed");
  return new ApiError(
    "internal_error",
    "the service failed; give the X-Request-Id to its operator",
    { cause: error },
  );
}

export function problemBody(problem: ApiError): ProblemBody {
  const { code, message, details } = problem;
  return { error: { code, message, details } };
}

function problemOfStore(error: unknown): ApiError | undefined {
  if (isPostgresAway(error)) return unavailable("the database", error);
  if (isClickhouseAway(error)) return unavailable("the store of clicks and reports", error);
  if (error instanceof SecretKeyError) return unavailable("a key of SECRETS_KEY", error);
  return undefined;
}

function problemOfFramework(code: string): ApiError | undefined {
  switch (code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_INVALID_TYPE":
      return new ApiError("unsupported_media_type", "send the body as application/json");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("payload_too_large", "the body may have at most 1 MiB");
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("invalid_json", "the body is not valid JSON");
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new ApiError("not_found", "there is no such path");
    default:
      return undefined;
  }
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

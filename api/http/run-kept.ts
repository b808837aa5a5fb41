import type { FastifyRequest } from "fastify";
import type {
  Operation,
  OperationResult,
  ReceivedFile,
  RequestContext,
} from "../operation/operation.ts";
import { answerFileOnce, answerOnce } from "./kept-answers.ts";

const KEY_HEADER = "idempotency-key";

/** Runs an operation; once only for an `Idempotency-Key`, if it keeps its answer. */
export async function runKept(
  {
    operation: { keepsAnswer },
    request: { headers, method, url, body },
    file,
  }: {
    readonly operation: Operation;
    readonly request: FastifyRequest;
    readonly file: ReceivedFile | undefined;
  },
  context: RequestContext,
  run: (context: RequestContext, file: ReceivedFile | undefined) => Promise<OperationResult>,
): Promise<OperationResult> {
  if (keepsAnswer === undefined) return await run(context, file);
  const { [KEY_HEADER]: key } = headers;
  const keyed = {
    key: Array.isArray(key) ? key.join(",") : key,
    method,
    url,
    isSealed: keepsAnswer === "sealed",
  };
  if (file !== undefined) return await answerFileOnce(context, { ...keyed, file }, run);
  return await answerOnce(context, { ...keyed, body }, (within) => run(within, undefined));
}

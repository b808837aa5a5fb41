import type { Operation, OperationContext } from "../operation/operation.ts";
import { readInput } from "./request-input.ts";

/** What a caller in this process gives an operation. Values of path and query are texts, as in a request. */
export type CalledWith = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
};

/**
 * Runs an operation without a request: reads the input with its schemas, runs it and returns the body of its answer. Does not check whether the
 * caller may use the operation. @throws {ApiError}
 */
export async function callOperation(
  context: OperationContext,
  operation: Operation,
  given: CalledWith,
): Promise<unknown> {
  const input = await readInput(operation, context, {
    path: given.path ?? {},
    query: given.query ?? {},
    body: given.body,
  });
  const result = await operation.run(context, input);
  return "body" in result ? result.body : undefined;
}

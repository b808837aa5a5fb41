import type { Cause } from "../../../schemas/events/cause.ts";
import type { Tracing } from "../../../schemas/tracing/tracing.ts";

/**
 * Runs a statement that records a conversion or its change. `record` gets the cause that the change passes on to its deliveries: with
 * tracing their spans follow the span of the statement. It includes the wait for the statements before it.
 */
export async function recordTraced<T>(
  {
    tracing,
    cause,
  }: { readonly tracing?: Tracing | undefined; readonly cause?: Cause | undefined },
  record: (cause: Cause | undefined) => Promise<T>,
): Promise<T> {
  if (tracing === undefined || cause === undefined) return await record(cause);
  const { request_id, traceparent: parent } = cause;
  const span = tracing.start("postgres.record", { parent, facts: { request_id } });
  let isFailed = true;
  try {
    const recorded = await record({ request_id, traceparent: span.traceparent });
    isFailed = false;
    return recorded;
  } finally {
    span.end({}, { isFailed });
  }
}

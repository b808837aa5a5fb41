import { headers, type MsgHdrs } from "@nats-io/transport-node";
import type { Cause } from "../events/cause.ts";
import { isRequestId } from "../ids/request-id.ts";

const REQUEST_ID = "Request-Id";
const TRACEPARENT = "traceparent";
const TRACEPARENT_FORM = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The headers of a message that a request caused. */
export function causeHeaders({ request_id, traceparent }: Cause): MsgHdrs {
  const all = headers();
  all.set(REQUEST_ID, request_id);
  if (traceparent !== undefined) all.set(TRACEPARENT, traceparent);
  return all;
}

/** Undefined for a message that no request caused, and for a message of a release that does not send the headers. */
export function causeOf({
  headers: all,
}: {
  readonly headers?: MsgHdrs | undefined;
}): Cause | undefined {
  const request_id = all?.get(REQUEST_ID) ?? "";
  if (!isRequestId(request_id)) return undefined;
  const traceparent = all?.get(TRACEPARENT) ?? "";
  return TRACEPARENT_FORM.test(traceparent) ? { request_id, traceparent } : { request_id };
}

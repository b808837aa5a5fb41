import { randomUUID } from "node:crypto";

/** What a proxy in front of us may send as `X-Request-Id`. */
const OF_PROXY = /^[\w-]{8,64}$/;
/** What the API accepts from its callers (G18), and so the widest form of a request ID. */
const OF_CALLER = /^[A-Za-z0-9._-]{1,64}$/;

/** An ID under which a request is found in logs, in the inbound log and at the receivers of its deliveries. */
export function newRequestId(): string {
  return randomUUID();
}

export function isProxysRequestId(text: string): boolean {
  return OF_PROXY.test(text);
}

export function isRequestId(text: string): boolean {
  return OF_CALLER.test(text);
}

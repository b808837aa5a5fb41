import type { PostbackResult } from "../../../schemas/events/postback-request.ts";

/** A report that is not taken: what its sender is told, and the word of the inbound log. */
export type Refusal = {
  readonly kind: "refused";
  readonly httpStatus: number;
  readonly error: string;
  readonly result: PostbackResult;
  /** What more its sender is told. */
  readonly details?: Readonly<Record<string, unknown>>;
};

/** Business errors have HTTP 200, so that the sender's system does not repeat them (T01). */
export function refused(error: string, result: PostbackResult = "error"): Refusal {
  return { kind: "refused", httpStatus: 200, error, result };
}

export function malformed(error: string): Refusal {
  return { kind: "refused", httpStatus: 400, error, result: "malformed" };
}

export function unauthorized(error: string, result: PostbackResult): Refusal {
  return { kind: "refused", httpStatus: 401, error, result };
}

/** G184: a change from outside the advertiser's list. */
export const UPDATE_IP_REFUSED: Refusal = {
  kind: "refused",
  httpStatus: 403,
  error: "postback IP not allowed for this offer",
  result: "ip_not_allowed",
};

/** Our outage is never told as a business error (P15): the sender repeats the report. */
export const UNAVAILABLE: Refusal = {
  kind: "refused",
  httpStatus: 503,
  error: "temporarily unavailable",
  result: "unavailable",
};

/** A fault of ours: told like an outage, so that the report comes again, and logged as an error. */
export const FAULT: Refusal = { ...UNAVAILABLE, result: "error" };

import type { PostbackResult } from "../../../schemas/events/postback-request.ts";
import { ignoredNote, joinNotes } from "./ignored-values.ts";
import type { Malformed } from "./report-params.ts";

/** A report that is not accepted: the error for its sender, and the result for the inbound log. */
export type Refusal = {
  readonly kind: "refused";
  readonly httpStatus: number;
  readonly error: string;
  readonly result: PostbackResult;
  /** More facts for the sender. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What to do about it, where the contract fixes `error`. Added to the inbound log, and to the answer of a pixel. */
  readonly hint?: string | undefined;
  /** When an outage may be over, if that is known. */
  readonly retryAfterSeconds?: number;
};

/** Business errors have HTTP 200, so that the sender's system does not send the report again (T01). */
export function refused(error: string, result: PostbackResult = "error"): Refusal {
  return { kind: "refused", httpStatus: 200, error, result };
}

export function malformed(error: string, hint?: string): Refusal {
  return { kind: "refused", httpStatus: 400, error, result: "malformed", hint };
}

/** A report whose parameters cannot be read. */
export function unreadable({ error, hint, reason, ignored }: Malformed): Refusal {
  const cause = malformed(error, joinNotes(hint, reason, ignoredNote(ignored)) || undefined);
  const details = {
    ...(reason === undefined ? {} : { reason }),
    ...(ignored.length === 0 ? {} : { ignored }),
  };
  return Object.keys(details).length === 0 ? cause : { ...cause, details };
}

export function unauthorized(error: string, result: PostbackResult): Refusal {
  return { kind: "refused", httpStatus: 401, error, result };
}

/** A change from an address outside the advertiser's list (G184). */
export const UPDATE_IP_REFUSED: Refusal = {
  kind: "refused",
  httpStatus: 403,
  error: "postback IP not allowed for this offer",
  result: "ip_not_allowed",
};

/** An outage of ours is never reported as a business error (P15): the sender repeats the report. */
export const UNAVAILABLE: Refusal = {
  kind: "refused",
  httpStatus: 503,
  error: "temporarily unavailable",
  result: "unavailable",
};

/** How soon a rate may be there: the feed is read again every few minutes until it answers, and staff need some time. */
const RATE_AFTER_SECONDS = 600;

/** A currency that we could convert if we had its rate (G221). `hint` says to the network what to do. */
export function withoutRate(from: string, { currency }: { readonly currency: string }): Refusal {
  return {
    ...UNAVAILABLE,
    details: { reason: `no exchange rate for ${from}` },
    retryAfterSeconds: RATE_AFTER_SECONDS,
    hint:
      `no exchange rate from ${from} to ${currency}: set one by POST /fx-rates, or tracker fx-rates set; ` +
      "GET /fx-rates and tracker doctor say whether the daily feed is read",
  };
}

/** A bug of ours. The sender sees an outage, so that it repeats the report; our log has an error. */
export const FAULT: Refusal = { ...UNAVAILABLE, result: "error" };

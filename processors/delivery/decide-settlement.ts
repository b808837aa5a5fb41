import type { Settlement } from "./deliveries.ts";
import type {
  Attempt,
  DeliveryKind,
  DeliveryRequest,
  LeasedDelivery,
  Prepared,
} from "./delivery.ts";
import { nextAttemptInMs, retryAfterMs } from "./retry-schedule.ts";

/** The result of an attempt for its delivery: delivered, to be retried, or failed (G126, G130). */
export function decideSettlement(options: {
  readonly delivery: Pick<LeasedDelivery, "attempts">;
  readonly kind: Pick<DeliveryKind, "name" | "waitsMs" | "isRefusal">;
  readonly request: Pick<DeliveryRequest, "url" | "method" | "body">;
  readonly durationMs: number;
  readonly attempt: Attempt;
  readonly nowMs: number;
  readonly random: number;
}): Settlement {
  const { delivery, kind, attempt, nowMs, random } = options;
  const isAnswered = attempt.kind === "answered";
  const result = { ...keptAttempt(options), is_sent: true, is_endpoints_fault: true };
  if (isAnswered && attempt.status >= 200 && attempt.status < 300)
    return { ...result, status: "delivered", error: "", retry_in_ms: null };
  const isOver = isAnswered ? kind.isRefusal(attempt.status) : attempt.isPermanent;
  const retryInMs = isOver
    ? undefined
    : nextAttemptInMs({
        waitsMs: kind.waitsMs,
        attempts: delivery.attempts,
        retryAfterMs: isAnswered ? retryAfterMs(attempt.retryAfter, nowMs) : 0,
        random,
      });
  return {
    ...result,
    status: retryInMs === undefined ? "failed" : "retrying",
    error: isAnswered
      ? storable(`HTTP ${attempt.status} ${attempt.statusText}`.trimEnd())
      : attempt.error,
    retry_in_ms: retryInMs ?? null,
  };
}

/** What is kept of the request and of its answer. */
function keptAttempt({
  kind,
  request: { url, method, body = "" },
  durationMs,
  attempt,
}: Pick<Parameters<typeof decideSettlement>[0], "kind" | "request" | "durationMs" | "attempt">) {
  const isAnswered = attempt.kind === "answered";
  return {
    url: url.href,
    method,
    // The row of a webhook's delivery has the document already.
    ...(kind.name === "postback" && { body: storable(body) }),
    duration_ms: Math.round(durationMs),
    response_status: isAnswered ? attempt.status : null,
    response_body: isAnswered ? storable(attempt.body) : "",
  };
}

/** The settlement of a delivery that was refused before it was sent. */
export function refusedSettlement(refused: Extract<Prepared, { kind: "refused" }>): Settlement {
  return {
    status: "failed",
    url: refused.url ?? "",
    error: refused.error,
    response_status: null,
    response_body: "",
    retry_in_ms: null,
    is_sent: false,
    is_endpoints_fault: refused.isEndpointsFault,
  };
}

/** Postgres accepts no NUL in text. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

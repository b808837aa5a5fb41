import type { components } from "../../../../../.build/console/openapi.ts";

export type Attempt = components["schemas"]["DeliveryAttempt"];

/** One attempt of a delivery, as far as its result was recorded. */
export type AttemptEntry =
  | { readonly kind: "known"; readonly number: number; readonly attempt: Attempt }
  | { readonly kind: "under-way" | "unknown"; readonly number: number };

export type AttemptLog = {
  /** Newest first. */
  readonly entries: readonly AttemptEntry[];
  /** How many are no longer kept. */
  readonly forgotten: number;
};

type Counted = {
  readonly total_attempts: number;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
  readonly history: readonly Attempt[];
};

/** The API keeps so many. */
const KEPT_MAX = 50;

/**
 * Every attempt of a delivery. A number without a result is the attempt under way, or one whose sender ended before it recorded a result:
 * what it sent may have arrived.
 */
export function attemptLog(delivery: Counted): AttemptLog {
  const { total_attempts: total, history } = delivery;
  const isUnderWay = delivery.next_attempt_at === null && delivery.finished_at === null;
  const known = new Map(history.map((attempt) => [attempt.number, attempt]));
  const forgotten = Math.max(0, total - KEPT_MAX);
  const entries: AttemptEntry[] = [];
  for (let number = total; number > forgotten; number -= 1) {
    const attempt = known.get(number);
    if (attempt !== undefined) entries.push({ kind: "known", number, attempt });
    else entries.push({ kind: isUnderWay && number === total ? "under-way" : "unknown", number });
  }
  return { entries, forgotten };
}

const TRIGGERS: Readonly<Record<components["schemas"]["PostbackDelivery"]["trigger"], string>> = {
  approved: "Conversion approved",
  pending: "Conversion pending",
  rejected: "Conversion rejected",
  reversal: "Approved conversion taken back",
};

/** What a delivery tells: the event of a webhook by its name, the change that fired a postback in words. */
export function tells(
  delivery:
    | Pick<components["schemas"]["WebhookDelivery"], "event">
    | Pick<components["schemas"]["PostbackDelivery"], "trigger">,
): string {
  return "event" in delivery ? delivery.event : TRIGGERS[delivery.trigger];
}

/** Such as "1 attempt". */
export function attemptsInWords(count: number): string {
  return `${count} ${count === 1 ? "attempt" : "attempts"}`;
}

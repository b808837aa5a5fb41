const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const JITTER = 0.2;
/** The longest wait that Retry-After can cause. */
const RETRY_AFTER_MS_MAX = DAY_MS;

/**
 * Milliseconds from the end of attempt number `attempts` (from 1) to the next one; undefined when there is none (G126). Retry-After can
 * only lengthen the wait, to at most one day. `random` is from 0 up to 1.
 */
export function nextAttemptInMs(options: {
  readonly waitsMs: readonly number[];
  readonly attempts: number;
  readonly retryAfterMs: number;
  readonly random: number;
}): number | undefined {
  const waitMs = options.waitsMs[options.attempts - 1];
  if (waitMs === undefined) return undefined;
  const jittered = waitMs * (1 + JITTER * (2 * options.random - 1));
  return Math.round(Math.max(jittered, Math.min(options.retryAfterMs, RETRY_AFTER_MS_MAX)));
}

/** A Retry-After header in milliseconds from `nowMs`: seconds or a date (RFC 9110). 0 if it is absent, in the past or invalid. */
export function retryAfterMs(header: string, nowMs: number): number {
  if (/^\d{1,10}$/.test(header)) return Number(header) * SECOND_MS;
  // The date parser would accept a bare number with a sign or a fraction as a date.
  if (!/^[A-Za-z]{3,9},? /.test(header)) return 0;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}

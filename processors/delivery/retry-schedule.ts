const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const JITTER = 0.2;
/** Who asks for more gets this. */
const RETRY_AFTER_MS_MAX = DAY_MS;

/**
 * Milliseconds from the end of attempt number `attempts` (from 1) to the next one; undefined when there is none (G126).
 * Retry-After moves it back and never forward, by at most a day. `random` is from 0 up to 1.
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

/** A Retry-After header in milliseconds from `nowMs`: seconds or a date (RFC 9110); 0 for none, the past, or nonsense. */
export function retryAfterMs(header: string, nowMs: number): number {
  if (/^\d{1,10}$/.test(header)) return Number(header) * SECOND_MS;
  // A bare number with a sign or a fraction would be a date to the parser.
  if (!/^[A-Za-z]{3,9},? /.test(header)) return 0;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? 0 : Math.max(0, atMs - nowMs);
}

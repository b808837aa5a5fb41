import { pause } from "./service.ts";

/** No guarantee is meant, only an end: what takes two seconds on a quiet machine took forty at a load of 25 on two cores. */
export const HANG_MS = 90_000;

/**
 * Waits until `condition` returns a value other than undefined and false. Returns that value. `timeoutMs` is for what must happen within a
 * time; without it a wait ends when the machine must have hung.
 */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  {
    timeoutMs = HANG_MS,
    pollMs = 100,
  }: { readonly timeoutMs?: number; readonly pollMs?: number } = {},
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  let lastError: unknown;
  while (Date.now() < deadlineMs) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    await pause(pollMs);
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: lastError });
}

/** The present time, UTC, as a limit after all that Postgres has posted: its times are finer than a millisecond. */
export async function afterAllPosted(): Promise<string> {
  const startedMs = Date.now();
  await until("the next millisecond", () => Date.now() > startedMs, { pollMs: 1 });
  return new Date().toISOString();
}

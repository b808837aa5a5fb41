import { pause } from "./service.ts";

/** Waits until `condition` returns a value other than undefined and false, at most `timeoutMs`. Returns that value. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  options: { readonly timeoutMs: number; readonly pollMs?: number },
): Promise<T> {
  const deadlineMs = Date.now() + options.timeoutMs;
  let lastError: unknown;
  while (Date.now() < deadlineMs) {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    await pause(options.pollMs ?? 100);
  }
  throw new Error(`not within ${options.timeoutMs} ms: ${what}`, { cause: lastError });
}

import { setTimeout } from "node:timers/promises";

/** Ends after `ms`, or early and without a fault when the signal does. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

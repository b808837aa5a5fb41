import { setTimeout as pause } from "node:timers/promises";
import { isTransactionConflict } from "./errors.ts";

const ATTEMPTS_MAX = 4;
const PAUSE_MS_MAX = 25;

/**
 * Repeats `attempt` after a conflict with another transaction (40001, 40P01), up to four attempts. Rethrows everything else, and the last
 * conflict.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransactionConflict(error) || attempts === ATTEMPTS_MAX) throw error;
      await pause(Math.random() * PAUSE_MS_MAX * attempts);
    }
  }
}

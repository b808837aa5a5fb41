import { get } from "node:http";
import { pause } from "../../schemas/host/pause.ts";

/** `unready`: it starts, drains, cannot work or has ended. `silent`: it has the port and did not answer within 2 s. */
export type ProcessState = "ready" | "unready" | "silent";

const ANSWER_WAIT_MS = 2_000;
const WATCH_MS = 1_000;
/**
 * A process that leaves this many questions in a row unanswered hangs: 15 s at most. Questions are counted instead of time, so whoever
 * stood still while asking accuses nobody.
 */
const UNANSWERED_MAX = 5;

/** Asks a process of the product by a GET to its `/readyz`. */
export function askProcess(readyUrl: string): Promise<ProcessState> {
  return new Promise((resolve) => {
    const call = get(readyUrl, { agent: false, timeout: ANSWER_WAIT_MS }, ({ statusCode }) => {
      resolve(statusCode === 200 ? "ready" : "unready");
      call.destroy();
    });
    call.once("timeout", () => call.destroy());
    call.once("error", (error: Error & { code?: string }) =>
      resolve(error.code === "ECONNREFUSED" ? "unready" : "silent"),
    );
    call.once("close", () => resolve("silent"));
  });
}

/**
 * Asks a process that has served, each second unless told otherwise. Resolves with true when it hangs, and with false when `signal` ends the
 * questions. `onState` gets every answer.
 */
export async function hangs(
  ask: () => Promise<ProcessState>,
  signal: AbortSignal,
  {
    onState,
    everyMs = WATCH_MS,
  }: { onState?: (state: ProcessState) => void; everyMs?: number } = {},
): Promise<boolean> {
  let unanswered = 0;
  while (unanswered < UNANSWERED_MAX) {
    await pause(everyMs, signal);
    const state = signal.aborted ? "ready" : await ask();
    if (signal.aborted) return false;
    onState?.(state);
    unanswered = state === "silent" ? unanswered + 1 : 0;
  }
  return true;
}

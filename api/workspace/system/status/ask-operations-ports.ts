import { hostname } from "node:os";
import type { KnownProcess } from "../../../../schemas/installation/heartbeat.ts";
import { type ProcessStatus, statusIn } from "../../../../schemas/installation/process-status.ts";

/** Longer than a live process ever goes without a heartbeat while Postgres is there. */
const ALIVE_SECONDS = 30;
const ANSWER_MS_MAX = 2_000;
const ASKED_MAX = 1_000;
const LOOPBACK = "127.0.0.1";

/** The processes that were alive just now. */
export function aliveOf(heartbeats: readonly KnownProcess[]): readonly KnownProcess[] {
  return heartbeats.filter(({ ageSeconds }) => ageSeconds < ALIVE_SECONDS);
}

/**
 * Asks processes for their `/status` over HTTP, all at the same time, for 2 s. Processes on other hosts answer only if their OPS_BIND lets
 * them. Never throws: what does not answer is left out.
 */
export async function askOperationsPorts(
  processes: readonly KnownProcess[],
): Promise<ProcessStatus[]> {
  const answers = await Promise.all(processes.slice(0, ASKED_MAX).map(askOne));
  return answers.filter((answer) => answer !== undefined);
}

async function askOne({ host, opsPort }: KnownProcess): Promise<ProcessStatus | undefined> {
  // The row of an older release has no port.
  if (opsPort === null) return undefined;
  // A name of this host may lead to an address that nothing listens on.
  const address = host === hostname() ? LOOPBACK : host;
  try {
    const answer = await fetch(`http://${address}:${opsPort}/status`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: { connection: "close" },
    });
    return statusIn(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    // Away, hung, or not to be reached from here. The caller shows it as not heard.
    return undefined;
  }
}

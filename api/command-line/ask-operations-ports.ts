import { hostname } from "node:os";
import { type ProcessStatus, statusIn } from "../../schemas/installation/process-status.ts";

/** Where a process says what it does. */
export type OperationsPort = { readonly host: string; readonly opsPort: number };

const ANSWER_MS_MAX = 2_000;
const ASKED_MAX = 1_000;
const LOOPBACK = "127.0.0.1";

/**
 * Asks processes for their `/status` over HTTP, all at the same time, for 2 s. Those on other hosts answer only if their OPS_BIND lets them.
 * Never throws: what does not answer is left out.
 */
export async function askOperationsPorts(
  ports: readonly OperationsPort[],
): Promise<ProcessStatus[]> {
  const answers = await Promise.all(ports.slice(0, ASKED_MAX).map(askOne));
  return answers.filter((answer) => answer !== undefined);
}

async function askOne({ host, opsPort }: OperationsPort): Promise<ProcessStatus | undefined> {
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

import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { startChild } from "./child.ts";
import { lastLinesOf } from "./command-output.ts";
import type { ProductProcessHost } from "./product-process.ts";
import { formatSeconds } from "./report.ts";

const NAME = "demo-traffic";
const STOP_DEADLINE_MS = 5_000;

/**
 * Fills the demo workspace with a month of traffic that ends at `untilMs`, while the service runs. Returns whether it is complete: the
 * next start makes the rest.
 */
export async function makeDemoTraffic(
  { dataDir, env, report }: ProductProcessHost,
  untilMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const startedAtMs = Date.now();
  const child = await startChild({
    name: NAME,
    command: process.execPath,
    args: [projectFile(".build", "ingress", "demo", "main.js"), "--until", String(untilMs)],
    env: { ...env, EXIT_WITH_PARENT: "1" },
    dataDir,
    report,
    stopBy: "SIGTERM",
    stopDeadlineMs: STOP_DEADLINE_MS,
  });
  const stop = (): void => void child.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const { code } = await child.exited;
  signal.removeEventListener("abort", stop);
  if (signal.aborted) return false;
  const last = lastLinesOf(child.lastLines().join("\n"));
  if (code === 0) {
    report.note(
      "demo",
      `a month of traffic, made in ${formatSeconds(Date.now() - startedAtMs)}: ${last}`,
    );
    return true;
  }
  report.warn(
    "demo",
    `its month of traffic is incomplete: ${last}. The next start makes the rest. More is in ${join(dataDir, "logs", `${NAME}.log`)}.`,
  );
  return false;
}

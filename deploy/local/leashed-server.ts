import { setTimeout as sleep } from "node:timers/promises";
import { processRecordFile, type StartedChild, startChild } from "./child.ts";
import { programFile } from "./child-programs.ts";
import type { EmbeddedServerOptions } from "./embedded-server.ts";
import type { LeashOrder } from "./leash-order.ts";
import { stopRecordedProcess } from "./process-record.ts";

/** What differs between one leashed server and another. */
export interface LeashedServer extends Omit<LeashOrder, "recordFile"> {
  name: string;
}

const READY_POLL_MS = 20;
/** A leash is killed this long after the deadline of its server. */
const LEASH_MARGIN_MS = 5_000;

/** Starts a server under a leash. First stops a server that a killed launcher left running on the same data. */
export async function startLeashed(
  server: LeashedServer,
  { dataDir, report }: EmbeddedServerOptions,
): Promise<StartedChild> {
  const { name, ...order } = server;
  const recordFile = processRecordFile(dataDir, `${name}-server`);
  const left = await stopRecordedProcess({
    file: recordFile,
    stopSignal: server.stopSignal,
    deadlineMs: server.deadlineMs,
  });
  if (left !== undefined) {
    report.note(name, `ended the one that an earlier run had left behind (process ${left.pid})`);
  }
  const fullOrder: LeashOrder = { ...order, recordFile };
  return startChild({
    name,
    command: process.execPath,
    args: [programFile("leash"), JSON.stringify(fullOrder)],
    dataDir,
    report,
    stopBy: "stdin-end",
    stopDeadlineMs: server.deadlineMs + LEASH_MARGIN_MS,
  });
}

export interface ReadyWait {
  child: StartedChild;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  isReady(): Promise<boolean> | boolean;
}

/**
 * `ready`, `ended` (the process is gone), or `late` (the deadline passed; the process is stopped). Rethrows the signal's
 * reason, also after stopping the process.
 */
export async function awaitReady(wait: ReadyWait): Promise<"ready" | "ended" | "late"> {
  const endAtMs = performance.now() + wait.deadlineMs;
  let ended = false;
  void wait.child.exited.then(() => {
    ended = true;
  });
  for (;;) {
    if (wait.signal?.aborted === true) {
      await wait.child.stop();
      throw wait.signal.reason;
    }
    if (ended) return "ended";
    if (await wait.isReady()) return "ready";
    if (performance.now() >= endAtMs) {
      await wait.child.stop();
      return "late";
    }
    await sleep(READY_POLL_MS);
  }
}

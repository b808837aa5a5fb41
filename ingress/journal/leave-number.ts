import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../schemas/host/log.ts";
import { makeProducerFolder, type ProducerFolder, retireFolder } from "./producer-folder.ts";

const RETRY_MS = 2_000;

/**
 * Gets a number and a folder for the next start, then retires the present folder, which keeps its records until the writers have them. This
 * process continues to answer clicks. Rejects only when `signal` ends the wait for Postgres.
 */
export async function leaveNumber(
  folder: ProducerFolder,
  reason: string,
  options: {
    readonly journalPath: string;
    readonly allocate: (claim: string) => Promise<number>;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { journalPath, allocate, log, signal } = options;
  const context = { producer: folder.producer, epoch: folder.epoch, reason };
  log.error(context, "producer.number-belongs-to-another");
  for (;;) {
    try {
      const next = await makeProducerFolder(journalPath, allocate);
      retireFolder(folder.path, reason);
      log.error({ ...context, next, keeps: folder.path }, "producer.folder-retired");
      return;
    } catch (error) {
      log.warn({ err: error, ...context }, "producer.no-number-yet");
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

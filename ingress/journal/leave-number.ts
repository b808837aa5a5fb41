import { Backoff } from "../../schemas/host/backoff.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { AllocateNumber } from "./allocate-producer.ts";
import { makeProducerFolder, type ProducerFolder, retireFolder } from "./producer-folder.ts";

const RETRY = { firstMs: 100, longestMs: 2_000 } as const;

/**
 * Gets a number and a folder for the next start, then retires the present folder, which keeps its records until the writers have them. This
 * process continues to answer clicks. Rejects only when `signal` ends the wait for Postgres or the disk.
 */
export async function leaveNumber(
  folder: ProducerFolder,
  reason: string,
  options: {
    readonly journalPath: string;
    readonly allocate: AllocateNumber;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { journalPath, allocate, log, signal } = options;
  const context = { producer: folder.producer, epoch: folder.epoch, reason };
  log.error(context, "producer.number-belongs-to-another");
  const retry = (event: string): Backoff =>
    new Backoff({ ...RETRY, signal, report: { log: log.child(context), event } });
  const next = await retry("producer.no-number-yet").repeat(() =>
    makeProducerFolder(journalPath, allocate),
  );
  // Repeated alone, because another folder would use up another number.
  await retry("producer.folder-not-retired-yet").repeat(() =>
    Promise.resolve(retireFolder(folder.path, reason)),
  );
  log.error({ ...context, next, keeps: folder.path }, "producer.folder-retired");
}

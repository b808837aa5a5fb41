import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { allocateProducer } from "./allocate-producer.ts";
import { type ProducerFolder, takeProducerFolder } from "./producer-folder.ts";

const RETRY_MS = 500;

/** A folder of a former process needs nobody; the first one ever needs Postgres for its number. Rejects when `signal` ends the wait. */
export async function untilFolderIsTaken(
  journalPath: string,
  db: Queryable,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<ProducerFolder> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await takeProducerFolder(journalPath, (claim) => allocateProducer(db, claim));
    } catch (error) {
      if (Number.isInteger(Math.log2(attempts))) log.warn({ err: error }, "journal.no-folder-yet");
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

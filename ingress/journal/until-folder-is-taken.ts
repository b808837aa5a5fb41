import { Backoff } from "../../schemas/host/backoff.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { allocateFolderNumber } from "./allocate-producer.ts";
import { type ProducerFolder, takeProducerFolder } from "./producer-folder.ts";

const STEADY_WAITS = { firstMs: 500, longestMs: 500 } as const;

/** Takes the folder of a former process, or makes one: only the latter needs Postgres. Rejects when `signal` ends the wait. */
export async function untilFolderIsTaken(
  journalPath: string,
  db: Queryable,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<ProducerFolder> {
  const report = { log, event: "journal.no-folder-yet" };
  const backoff = new Backoff({ ...STEADY_WAITS, signal, report });
  return await backoff.repeat(() => takeProducerFolder(journalPath, allocateFolderNumber(db)));
}

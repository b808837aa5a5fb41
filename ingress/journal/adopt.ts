import { join } from "node:path";
import { type LeftoversOptions, shipLeftovers } from "./leftovers.ts";
import { producersIn, tryToTake } from "./producer-folder.ts";
import { endedSegmentPaths } from "./segment-files.ts";

const LOOK_MS = 10_000;

export type AdoptionOptions = Omit<LeftoversOptions, "folder" | "producer" | "epoch"> & {
  readonly journalPath: string;
  readonly ownProducer: number;
};

/**
 * Looks now and then for journals whose process is gone, and brings home what is in them. A folder that another process holds is
 * left alone. Runs until the signal ends it.
 */
export async function adoptOrphans(options: AdoptionOptions): Promise<void> {
  const { journalPath, ownProducer, signal, log } = options;
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, LOOK_MS);
      signal.addEventListener("abort", end);
    });
    for (const producer of signal.aborted ? [] : producersIn(journalPath)) {
      if (producer === ownProducer) continue;
      try {
        await adopt(options, producer);
      } catch (error) {
        log.error({ err: error, producer }, "journal.adoption-failed");
      }
    }
  }
}

async function adopt(options: AdoptionOptions, producer: number): Promise<void> {
  const folder = join(options.journalPath, String(producer));
  if ((await endedSegmentPaths(folder, Number.MAX_SAFE_INTEGER)).length === 0) return;
  const taken = await tryToTake(options.journalPath, producer);
  if (taken === undefined) return;
  try {
    await shipLeftovers({ ...options, folder, producer, epoch: taken.epoch });
  } finally {
    await taken.release();
  }
}

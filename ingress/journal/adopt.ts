import { join } from "node:path";
import { encodeBatch } from "../../schemas/events/click-batch.ts";
import { ALL_LANES } from "../../schemas/events/shards.ts";
import { pause } from "../../schemas/host/pause.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { type LeftoversOptions, shipLeftovers } from "./leftovers.ts";
import { lockFolder } from "./lock-folder.ts";
import { producersIn, tryToTake } from "./producer-folder.ts";
import { publishUntilStored } from "./publish-batch.ts";
import { endedSegmentPaths } from "./segment-files.ts";

const LOOK_MS = 10_000;

export type AdoptionOptions = Omit<LeftoversOptions, "folder" | "producer" | "epoch"> & {
  readonly journalPath: string;
  readonly ownProducer: number;
  /** What else a dead process may have left in its folder. */
  readonly others: {
    isIn(folder: string): boolean;
    /** Called while the folder is locked. */
    takeFrom(folder: string): void;
  };
};

/**
 * Looks now and then for journals whose process is gone, and brings home what is in them. A folder that another process holds is
 * left alone. Runs until the signal ends it.
 */
export async function adoptOrphans(options: AdoptionOptions): Promise<void> {
  const { journalPath, ownProducer, signal, log } = options;
  let lastFree: ReadonlySet<number> = new Set();
  while (!signal.aborted) {
    await pause(LOOK_MS, signal);
    const free = new Set<number>();
    for (const producer of signal.aborted ? [] : producersIn(journalPath)) {
      if (producer === ownProducer) continue;
      try {
        if (!(await isAbandoned(options, producer))) continue;
        // Only at the second look: a process that starts again takes its own folder back within seconds.
        if (lastFree.has(producer)) await adopt(options, producer);
        else free.add(producer);
      } catch (error) {
        log.error({ err: error, producer }, "journal.adoption-failed");
      }
    }
    lastFree = free;
  }
}

/** Whether nobody holds the folder though there are records in it. */
async function isAbandoned(
  { journalPath, others }: AdoptionOptions,
  producer: number,
): Promise<boolean> {
  const folder = join(journalPath, String(producer));
  const segments = await endedSegmentPaths(folder, Number.MAX_SAFE_INTEGER);
  if (segments.length === 0 && !others.isIn(folder)) return false;
  const release = await lockFolder(folder);
  await release?.();
  return release !== undefined;
}

async function adopt(options: AdoptionOptions, producer: number): Promise<void> {
  const folder = join(options.journalPath, String(producer));
  const taken = await tryToTake(options.journalPath, producer);
  if (taken === undefined) return;
  try {
    const { epoch } = taken;
    options.others.takeFrom(folder);
    const isHome = await shipLeftovers({ ...options, folder, producer, epoch });
    if (isHome) await sayEnded(options, producer, epoch);
  } finally {
    await taken.release();
  }
}

/** For the process that cannot say it any more: nothing more will come of any of its epochs. */
async function sayEnded(
  { link, signal, events }: AdoptionOptions,
  producer: number,
  epoch: number,
): Promise<void> {
  const onRetry = (error: unknown): void => events.retried(error);
  for (const lane of ALL_LANES) {
    const word = { producer, epoch, lane, first: 0, at: systemClock.nowMs(), lines: [] };
    const bytes = encodeBatch({ ...word, endedBefore: epoch + 1 });
    if (!signal.aborted) {
      await publishUntilStored(link, { lane, id: undefined, bytes }, { signal, onRetry });
    }
  }
}

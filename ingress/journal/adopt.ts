import { join } from "node:path";
import { pause } from "../../schemas/host/pause.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { readRuns } from "./journal-run.ts";
import { type LeftoversOptions, shipLeftovers } from "./leftovers.ts";
import { lockFolder } from "./lock-folder.ts";
import {
  isEndOwed,
  noteRetiredEnded,
  type ProducerFolder,
  producersIn,
  retiredSinceMs,
  tryToTake,
} from "./producer-folder.ts";
import { publishEnded, publishEndedAlone } from "./publish-batch.ts";
import { endedSegmentPaths } from "./segment-files.ts";

const LOOK_MS = 10_000;
const CONFIRMATION_LOOK_MS = 500;
const CONFIRMATION_LOOKS = 60;

/** After this time, a process that has a copy of a retired folder has shipped what this copy lacks. */
const RETIRED_PATIENCE_MS = 3_600_000;

export type AdoptionOptions = Omit<
  LeftoversOptions,
  "folder" | "producer" | "epoch" | "mayDeclareLost" | "onLaneStored"
> & {
  /** Registers that this process now has the number of a folder. */
  readonly claim: (folder: ProducerFolder) => {
    readonly isConfirmed: boolean;
    close(): Promise<void>;
  };
  readonly journalPath: string;
  readonly ownProducer: number;
  /** Other files that a dead process may have left in its folder. */
  readonly others: {
    isIn(folder: string): boolean;
    /** Called while the folder is locked. */
    takeFrom(folder: string): void;
  };
};

/**
 * Looks regularly for journals whose process is gone, and ships their records. Folders locked by another process are left alone.
 * Runs until the signal ends it.
 */
export async function adoptOrphans(options: AdoptionOptions): Promise<void> {
  const { ownProducer, signal, log } = options;
  let lastFree: ReadonlySet<number> = new Set();
  while (!signal.aborted) {
    await pause(LOOK_MS, signal);
    const free = new Set<number>();
    for (const producer of signal.aborted ? [] : foldersIn(options)) {
      if (producer === ownProducer) continue;
      try {
        if (!(await isAbandoned(options, producer))) continue;
        // Only at the second look: a process that restarts takes its own folder back within seconds.
        if (lastFree.has(producer)) await adopt(options, producer);
        else free.add(producer);
      } catch (error) {
        log.error({ err: error, producer }, "journal.adoption-failed");
      }
    }
    lastFree = free;
  }
}

/** None while they cannot be listed. */
function foldersIn({ journalPath, log }: AdoptionOptions): number[] {
  try {
    return producersIn(journalPath);
  } catch (error) {
    log.error({ err: error }, "journal.adoption-failed");
    return [];
  }
}

/** Whether the folder has work left and no process has locked it. */
async function isAbandoned(
  { journalPath, others }: AdoptionOptions,
  producer: number,
): Promise<boolean> {
  const folder = join(journalPath, String(producer));
  const segments = await endedSegmentPaths(folder, Number.MAX_SAFE_INTEGER);
  if (segments.length === 0 && !others.isIn(folder) && !isEndOwed(folder)) return false;
  const release = await lockFolder(folder);
  await release?.();
  return release !== undefined;
}

async function adopt(options: AdoptionOptions, producer: number): Promise<void> {
  const taken = await tryToTake(options.journalPath, producer);
  if (taken === undefined) return;
  try {
    await shipAdopted(options, taken);
  } finally {
    await taken.release();
  }
}

/** Ships what a folder has, under its lock. Returns when the writers have all of it, or when the signal ends the work. */
export async function shipAdopted(
  options: Omit<AdoptionOptions, "journalPath" | "ownProducer">,
  taken: ProducerFolder,
): Promise<void> {
  const { producer, epoch, nonce, path: folder } = taken;
  const retiredAtMs = retiredSinceMs(folder);
  const claim = retiredAtMs === undefined ? options.claim(taken) : undefined;
  const isSole = (): boolean =>
    claim?.isConfirmed ?? systemClock.nowMs() - (retiredAtMs ?? 0) > RETIRED_PATIENCE_MS;
  try {
    options.others.takeFrom(folder);
    const { link, lanes, signal, events } = options;
    const endedBefore = retiredAtMs === undefined ? epoch : epoch + 1;
    const common = { ...options, folder, producer, epoch: endedBefore };
    const publishEnd = async (ended: readonly number[]): Promise<void> => {
      const how = { lanes: ended, signal, onRetry: (error: unknown) => events.retried(error) };
      if (claim !== undefined) await publishEnded(link, { producer, epoch, nonce }, how);
      else
        for (const run of readRuns(folder))
          await publishEndedAlone(link, { producer, ...run }, how);
    };
    const onLaneStored = async (lane: number): Promise<boolean> => {
      if (claim?.isConfirmed === false) return false;
      await publishEnd([lane]);
      return true;
    };
    const isDone = await shipLeftovers({ ...common, mayDeclareLost: isSole, onLaneStored });
    // While the claim is unconfirmed, another process may run on a copy of this folder. That process then publishes the end of its epoch.
    if (!isDone || !(await untilConfirmed(claim, signal))) return;
    await publishEnd(lanes.present().all);
    if (claim === undefined && !signal.aborted) noteRetiredEnded(folder);
  } finally {
    await claim?.close();
  }
}

/** Waits until the claim is confirmed, at most 30 s. A retired folder needs none, because only its own epochs are published as ended. */
async function untilConfirmed(
  claim: { readonly isConfirmed: boolean } | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (claim === undefined) return true;
  for (let looks = 0; looks < CONFIRMATION_LOOKS && !signal.aborted; looks += 1) {
    if (claim.isConfirmed) return true;
    await pause(CONFIRMATION_LOOK_MS, signal);
  }
  return claim.isConfirmed;
}

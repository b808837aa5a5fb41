import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { AllocateNumber } from "./allocate-producer.ts";
import { beginRun, type JournalRun, newNonce, readRuns } from "./journal-run.ts";
import { lockFolder } from "./lock-folder.ts";
import { syncFolder, writeDurably } from "./write-durably.ts";

const PRODUCER_NAME = /^\d{1,5}$/;
/** Begins the name of a folder that is not complete yet. */
export const DRAFT = "new-";
/** Making a folder takes seconds: an older draft is of a process that was killed. */
const DRAFT_PATIENCE_MS = 3_600_000;
const EPOCH_FILE = "epoch";
const NONCE_FILE = "nonce";
const RETIRED_FILE = "retired";
const ENDED_FILE = "ended";

/**
 * A producer is a journal folder: `journal/<producer>/`. The process with its lock writes into it. Every start begins an epoch
 * of its own before its first record, so that no position is ever used twice.
 */
export type ProducerFolder = JournalRun & {
  readonly producer: number;
  /** Random, made with the folder. Identifies the owner of the number in Postgres. */
  readonly claim: string;
  readonly path: string;
  release(): Promise<void>;
};

/** Locks the first free folder, or makes one. */
export async function takeProducerFolder(
  journalPath: string,
  allocate: AllocateNumber,
): Promise<ProducerFolder> {
  mkdirSync(journalPath, { recursive: true });
  for (const producer of producersIn(journalPath)) {
    if (isRetired(join(journalPath, String(producer)))) continue;
    const folder = await tryToTake(journalPath, producer);
    if (folder !== undefined) return folder;
  }
  const producer = await makeProducerFolder(journalPath, allocate);
  const folder = await tryToTake(journalPath, producer);
  if (folder === undefined) throw new Error(`the new journal folder ${producer} is taken`);
  return folder;
}

/**
 * Creates a folder that no process has yet, and returns its number. The folder is complete before it has its name. A number that is not
 * used is lost, so `allocate` is called only when the disk has taken the folder. Its epochs begin above the epochs of an earlier holder of
 * the number.
 */
export async function makeProducerFolder(
  journalPath: string,
  allocate: AllocateNumber,
): Promise<number> {
  removeOldDrafts(journalPath);
  const claim = newNonce();
  const draft = join(journalPath, `${DRAFT}${claim}`);
  mkdirSync(draft);
  try {
    writeDurably(join(draft, NONCE_FILE), claim);
    const { producer, lastEpoch } = await allocate(claim, { besides: producersIn(journalPath) });
    if (lastEpoch > 0) writeDurably(join(draft, EPOCH_FILE), String(lastEpoch));
    renameSync(draft, join(journalPath, String(producer)));
    syncFolder(journalPath);
    return producer;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

function removeOldDrafts(journalPath: string): void {
  for (const name of readdirSync(journalPath)) {
    if (!name.startsWith(DRAFT)) continue;
    const path = join(journalPath, name);
    const changedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedAtMs > DRAFT_PATIENCE_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Producers with a folder, lowest first. */
export function producersIn(journalPath: string): number[] {
  return readdirSync(journalPath)
    .filter((name) => PRODUCER_NAME.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Undefined when another process has locked the folder. */
export async function tryToTake(
  journalPath: string,
  producer: number,
): Promise<ProducerFolder | undefined> {
  const path = join(journalPath, String(producer));
  const release = await lockFolder(path);
  if (release === undefined) return undefined;
  try {
    return { producer, claim: claimOf(path), path, release, ...runOf(path) };
  } catch (error) {
    // Else the next attempt would find the folder locked by this process.
    await release();
    throw error;
  }
}

/**
 * Retires a folder because another process has its number or epochs: no start writes into it again. Its records are still
 * shipped.
 */
export function retireFolder(path: string, reason: string): void {
  writeDurably(join(path, RETIRED_FILE), `${reason}\n`);
}

function isRetired(path: string): boolean {
  return retiredSinceMs(path) !== undefined;
}

/** When the folder was retired, UTC ms; undefined for one in use. */
export function retiredSinceMs(path: string): number | undefined {
  return statSync(join(path, RETIRED_FILE), { throwIfNoEntry: false })?.mtimeMs;
}

/** Notes that the click writers have everything of a retired folder, and that its epochs were published as ended. */
export function noteRetiredEnded(path: string): void {
  writeDurably(join(path, ENDED_FILE), "");
}

/** Whether a retired folder's epochs must still be published as ended, although it may have no records left. */
export function isEndOwed(path: string): boolean {
  return isRetired(path) && !existsSync(join(path, ENDED_FILE));
}

/** A folder of an earlier release gets its claim here. */
function claimOf(path: string): string {
  const file = join(path, NONCE_FILE);
  const known = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (known !== "") return known;
  const claim = newNonce();
  writeDurably(file, claim);
  return claim;
}

/** A new epoch; in a retired folder its last one, since nothing is added to it. */
function runOf(path: string): JournalRun {
  const lastRun = readRuns(path).at(-1);
  if (lastRun !== undefined && isRetired(path)) return lastRun;
  const file = join(path, EPOCH_FILE);
  const last = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  // A damaged file must not repeat an epoch: the names of the segments on disk show which were used.
  const used = readdirSync(path).map((name) => Number(/^(\d+)-\d+\.wal$/.exec(name)?.[1] ?? 0));
  const epochs = [Number.isSafeInteger(last) ? last : 0, ...used];
  const run = beginRun(path, { epochs, withSegments: new Set(used) }, Date.now());
  // For releases that count from this file.
  writeDurably(file, String(run.epoch));
  return run;
}

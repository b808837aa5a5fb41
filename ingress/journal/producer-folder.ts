import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { lockFolder } from "./lock-folder.ts";

const PRODUCER_NAME = /^\d{1,5}$/;
const EPOCH_FILE = "epoch";

/**
 * A producer is a journal folder: `journal/<producer>/`. Whoever holds its lock writes into it, and every start counts the epoch
 * up before the first record, so that no position is ever used twice.
 */
export type ProducerFolder = {
  readonly producer: number;
  readonly epoch: number;
  readonly path: string;
  release(): Promise<void>;
};

/** Locks the first free folder, or makes one whose number `allocate` gives. */
export async function takeProducerFolder(
  journalPath: string,
  allocate: () => Promise<number>,
): Promise<ProducerFolder> {
  mkdirSync(journalPath, { recursive: true });
  for (const producer of producersIn(journalPath)) {
    const folder = await tryToTake(journalPath, producer);
    if (folder !== undefined) return folder;
  }
  const producer = await allocate();
  const folder = await tryToTake(journalPath, producer);
  if (folder === undefined) throw new Error(`the new journal folder ${producer} is taken`);
  return folder;
}

/** Producers with a folder, lowest first. */
export function producersIn(journalPath: string): number[] {
  return readdirSync(journalPath)
    .filter((name) => PRODUCER_NAME.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Undefined when another process holds the folder. */
export async function tryToTake(
  journalPath: string,
  producer: number,
): Promise<ProducerFolder | undefined> {
  const path = join(journalPath, String(producer));
  mkdirSync(path, { recursive: true });
  const release = await lockFolder(path);
  if (release === undefined) return undefined;
  return {
    producer,
    epoch: countEpochUp(path),
    path,
    release,
  };
}

/** Durable before the first record of the epoch. */
function countEpochUp(path: string): number {
  const file = join(path, EPOCH_FILE);
  const last = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  // A damaged file must not bring an epoch back: the segments on disk say what was used.
  const used = readdirSync(path).map((name) => Number(/^(\d+)-\d+\.wal$/.exec(name)?.[1] ?? 0));
  const epoch = Math.max(Number.isSafeInteger(last) ? last : 0, ...used, 0) + 1;
  const fresh = `${file}.new`;
  const descriptor = openSync(fresh, "w", 0o600);
  writeSync(descriptor, String(epoch));
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(fresh, file);
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
  return epoch;
}

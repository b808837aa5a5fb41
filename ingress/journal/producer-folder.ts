import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  const lock = await tryToLock(path);
  if (lock === undefined) return undefined;
  return {
    producer,
    epoch: countEpochUp(path),
    path,
    release: () => new Promise((resolve) => lock.close(() => resolve())),
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

/**
 * A lock that ends with its process, however that ends: a listening socket, which no second process can open. On Linux its name
 * is in no file system; elsewhere it is a file that is tried out before it is taken for stale.
 */
async function tryToLock(path: string): Promise<Server | undefined> {
  const name = createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 32);
  if (process.platform === "linux") return await listen(`\0tracker-journal-${name}`);
  const file = join(tmpdir(), `tracker-journal-${name}`);
  const first = await listen(file);
  if (first !== undefined || (await answers(file))) return first;
  rmSync(file, { force: true });
  return await listen(file);
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once("error", (error: Error & { code?: string }) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server));
  });
}

async function answers(path: string): Promise<boolean> {
  const { connect } = await import("node:net");
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

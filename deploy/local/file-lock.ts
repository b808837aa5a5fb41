import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processIdentity } from "./process-identity.ts";
import type { ProcessRecord } from "./process-record.ts";
import { readLiveProcess } from "./process-record.ts";

/** The lock is somebody else's. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
  readonly holder: ProcessRecord;

  constructor(holder: ProcessRecord) {
    super(`held by process ${holder.pid}`);
    this.holder = holder;
  }
}

const POLL_MS = 100;

/**
 * Takes `file` as a lock of this process and answers how to give it back. A lock whose holder has died, by whatever
 * means, is free. Processes in other containers that share the folder are not seen: their numbers are not ours.
 *
 * @throws {LockHeldError} while a living process holds it.
 */
export function takeFileLock(file: string, command: string): () => void {
  mkdirSync(dirname(file), { recursive: true });
  const identity = processIdentity(process.pid);
  const record = { pid: process.pid, identity: identity ?? "", command };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  try {
    // The second round is for the lock of a dead holder that the first one moved out of the way.
    for (let round = 0; round < 2; round++) {
      if (linkUnlessThere(draft, file)) return () => rmSync(file, { force: true });
      clearDeadLock(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`the lock ${file} changes hands faster than it can be read`);
}

/** As `takeFileLock`, but waits for a living holder up to `waitMs`. */
export async function awaitFileLock(
  file: string,
  command: string,
  waitMs: number,
): Promise<() => void> {
  const endAtMs = Date.now() + waitMs;
  for (;;) {
    try {
      return takeFileLock(file, command);
    } catch (error) {
      if (!(error instanceof LockHeldError) || Date.now() >= endAtMs) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** A link, unlike a write, fails when the name is taken and never shows a half-written file. */
function linkUnlessThere(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function clearDeadLock(file: string): void {
  const holder = readLiveProcess(file);
  if (holder !== undefined) throw new LockHeldError(holder);
  const aside = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  // Another starter may have replaced the dead lock by its own since it was read: that one goes back.
  const moved = readLiveProcess(aside);
  if (moved !== undefined) linkUnlessThere(aside, file);
  rmSync(aside, { force: true });
  if (moved !== undefined) throw new LockHeldError(moved);
}

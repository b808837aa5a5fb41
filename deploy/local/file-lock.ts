import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processIdentity } from "./process-identity.ts";
import type { ProcessRecord } from "./process-record.ts";
import { readLiveProcess } from "./process-record.ts";

/** Another process holds the lock. */
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
 * Locks `file` for this process. Returns the function that unlocks it. The lock of a dead process is free. Does not detect processes in
 * other containers that share the folder, because their process ids are different.
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
    // The second attempt follows if the first one removed the lock of a dead process.
    for (let round = 0; round < 2; round++) {
      if (linkUnlessThere(draft, file)) return () => rmSync(file, { force: true });
      clearDeadLock(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`the lock ${file} changes hands faster than it can be read`);
}

/** Like `takeFileLock`, but waits up to `waitMs` for the holder. */
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

/** Uses a link, because it fails if the name exists and never exposes a half-written file. */
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
  // Since the dead lock was read, another process may have replaced it by a live one, which is put back.
  const moved = readLiveProcess(aside);
  if (moved !== undefined) linkUnlessThere(aside, file);
  rmSync(aside, { force: true });
  if (moved !== undefined) throw new LockHeldError(moved);
}

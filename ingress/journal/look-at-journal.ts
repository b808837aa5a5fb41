import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { JournalDisk } from "../../schemas/checks/judge-journal.ts";
import { lockFolder } from "./lock-folder.ts";
import { DRAFT } from "./producer-folder.ts";

/** What J1 judges: the disk of the journal, before the first record is written. */
export function lookAtJournal(
  folder: string,
  sync: JournalDisk["sync"],
): () => Promise<JournalDisk> {
  return async () => {
    mkdirSync(folder, { recursive: true });
    const { type: fileSystem } = statfsSync(folder);
    return { folder, fileSystem, isLockKept: await keepsLocks(folder), sync };
  };
}

/** Takes a lock twice. The second time must fail. If this process is killed, a later start removes the folder by its name. */
async function keepsLocks(folder: string): Promise<boolean> {
  const trial = mkdtempSync(join(folder, `${DRAFT}lock-`));
  try {
    const unlock = await lockFolder(trial);
    if (unlock === undefined) return false;
    const second = await lockFolder(trial);
    await second?.();
    await unlock();
    return second === undefined;
  } finally {
    rmSync(trial, { recursive: true, force: true });
  }
}

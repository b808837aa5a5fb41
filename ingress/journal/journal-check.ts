import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { CheckGroup } from "../../schemas/durability/check-group.ts";
import { judgeJournal } from "../../schemas/durability/judge-journal.ts";
import { lockFolder } from "./lock-folder.ts";
import { DRAFT } from "./producer-folder.ts";

/** J1: the disk of the journal, before the first record is written. */
export function journalCheck(folder: string, sync: "interval" | "always" | "none"): CheckGroup {
  return {
    checks: ["J1"],
    server: `The disk of ${folder}`,
    ask: async () => {
      mkdirSync(folder, { recursive: true });
      const fileSystem = statfsSync(folder).type;
      return [judgeJournal({ folder, fileSystem, isLockKept: await keepsLocks(folder), sync })];
    },
    // A disk fault must not keep an ingress from answering clicks (P6).
    refusalOf: () => undefined,
  };
}

/** Takes a lock twice. The second time must fail. The folder's name is one that a later start removes if this process is killed. */
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

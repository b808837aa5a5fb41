import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const PRIVATE_UMASK = 0o077;
const PRIVATE_FOLDER = 0o700;
/** Postgres of a launcher that is root runs as another user, who has to walk through. Nobody but the owner sees what is there. */
const PASSABLE_FOLDER = 0o711;
const GROUP_AND_OTHERS = 0o077;

/**
 * From now on what this process and its children make is for their user alone: clicks, conversions, passwords and logs.
 * DATA_DIR is made if it is missing, and what an earlier version left open in it is closed. Nothing below its first level is
 * touched: nobody gets that far.
 */
export function keepFilesPrivate(dataDir: string): void {
  process.umask(PRIVATE_UMASK);
  mkdirSync(dataDir, { recursive: true });
  const uid = process.getuid?.();
  chmodSync(dataDir, uid === 0 ? PASSABLE_FOLDER : PRIVATE_FOLDER);
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    const entry = lstatSync(path);
    const isOwn = uid === undefined || entry.uid === uid;
    const isPlain = entry.isFile() || entry.isDirectory();
    if (isOwn && isPlain && (entry.mode & GROUP_AND_OTHERS) !== 0)
      chmodSync(path, entry.mode & ~GROUP_AND_OTHERS & 0o777);
  }
}

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Names in an archive. */
export const MANIFEST = "manifest.json";
export const CLUSTER = "postgres.tar";
export const CLICKHOUSE = "clickhouse";
export const JOURNAL = "journal";

/** Unfinished while it exists: `npm start` refuses the folder. */
export const RESTORING = "restore.new";

/** What a new DATA_DIR may already have: the lock of this process, and downloaded programs. */
const NOT_DATA = new Set(["launcher.lock", "runtime"]);

export function isEmptyDataDir(dataDir: string): boolean {
  return !existsSync(dataDir) || readdirSync(dataDir).every((name) => NOT_DATA.has(name));
}

/** Where the embedded ClickHouse may read and write backups. */
export function clickhouseBackups(dataDir: string): string {
  return join(dataDir, "clickhouse", "backups");
}

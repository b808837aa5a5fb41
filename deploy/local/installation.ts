import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { LaunchError } from "./report.ts";

const InstallationRecord = z.object({
  id: z.string(),
  demo: z.enum(["pending", "made", "unwanted"]),
});
type InstallationRecord = z.infer<typeof InstallationRecord>;

/** What a DATA_DIR remembers of itself between starts. */
export interface Installation {
  /** Names this installation among others that share servers with it. */
  readonly id: string;
  /** The DATA_DIR was empty at its first start, and the demo workspace is not made yet. */
  readonly needsDemo: boolean;
  noteDemoCreated(): void;
}

/** What the launcher itself puts there before it looks, and programs that may have been fetched beforehand. */
const NOT_DATA = new Set(["launcher.lock", "runtime"]);

/**
 * Reads `installation.json`, or begins it. Whether DATA_DIR was empty is written down before anything else is, so that a
 * first start may be cut off anywhere and the next one still makes the demo workspace.
 *
 * @throws {LaunchError} when the file is damaged.
 */
export function openInstallation(dataDir: string): Installation {
  const file = join(dataDir, "installation.json");
  if (!existsSync(file)) {
    const isEmpty = readdirSync(dataDir).every((name) => NOT_DATA.has(name));
    const id = randomBytes(6).toString("hex");
    writeRecord(file, { id, demo: isEmpty ? "pending" : "unwanted" });
  }
  const record = readRecord(file);
  return {
    id: record.id,
    needsDemo: record.demo === "pending",
    noteDemoCreated: () => writeRecord(file, { id: record.id, demo: "made" }),
  };
}

function readRecord(file: string): InstallationRecord {
  try {
    return InstallationRecord.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new LaunchError(
      `${file} is damaged. Delete it to go on with the data that is there, without a new demo workspace.`,
      { cause: error },
    );
  }
}

function writeRecord(file: string, record: InstallationRecord): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`);
  renameSync(`${file}.new`, file);
}

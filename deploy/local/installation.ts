import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { LaunchError } from "./report.ts";

const InstallationRecord = z.object({
  id: z.string(),
  demo: z.enum(["pending", "made", "unwanted"]),
  /** The end of the demo's month of traffic while some of it is missing, UTC ms. */
  traffic_until_ms: z.int().optional(),
});
type InstallationRecord = z.infer<typeof InstallationRecord>;

/** The state of a DATA_DIR between starts. */
export interface Installation {
  /** Distinguishes this installation from others that share its servers. */
  readonly id: string;
  /** DATA_DIR was empty at its first start, and the demo workspace has not been created yet. */
  readonly needsDemo: boolean;
  /** `trafficUntilMs`: its month of traffic ends then and has yet to be made. */
  noteDemoCreated(trafficUntilMs: number | undefined): void;
  /** The end of the month of traffic that is not complete, UTC ms. */
  readonly trafficUntilMs: number | undefined;
  noteTrafficMade(): void;
}

/** Files that do not count as data: those that the launcher creates before it checks, and downloaded programs. */
const NOT_DATA = new Set(["launcher.lock", "runtime"]);

/**
 * Reads or creates `installation.json`. It records first whether DATA_DIR was empty, so that the demo workspace is still created if the
 * first start is interrupted at any point.
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
    noteDemoCreated: (trafficUntilMs) => {
      writeRecord(file, {
        id: record.id,
        demo: "made",
        ...(trafficUntilMs === undefined ? {} : { traffic_until_ms: trafficUntilMs }),
      });
    },
    trafficUntilMs: record.traffic_until_ms,
    noteTrafficMade: () => writeRecord(file, { id: record.id, demo: "made" }),
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

import { pause } from "../../schemas/host/pause.ts";
import { type BackedUpStore, readBackupAges } from "../../schemas/installation/backup-notes.ts";
import type { RoleDeps } from "../role-deps.ts";

const READ_MS = 30_000;

/** Shows the age of the last noted backup of each store, until `signal` is aborted. */
export async function showBackupAges(
  { pool, metrics, log }: Pick<RoleDeps, "pool" | "metrics" | "log">,
  signal: AbortSignal,
): Promise<void> {
  let ages: ReadonlyMap<BackedUpStore, number> = new Map();
  metrics.gauges("backup_age_seconds", () =>
    [...ages].map(([store, seconds]) => [{ store }, seconds]),
  );
  while (!signal.aborted) {
    try {
      ages = await readBackupAges(pool);
    } catch (error) {
      // The age is unknown, so the metric is absent.
      ages = new Map();
      log.debug({ err: error }, "schedule.backup-ages-unknown");
    }
    await pause(READ_MS, signal);
  }
}

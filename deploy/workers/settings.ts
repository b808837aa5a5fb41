import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { readSettings, SettingsError, type SettingsOf } from "../../schemas/host/read-settings.ts";

const DEFAULT_WORKERS_MAX = 64;
const FIRST_OPS_PORT = 9411;

export type WorkersSettings = ReturnType<typeof groupSettings>;

/**
 * The settings of the parent of the ingress workers. This reads the workers' settings too, so that wrong ones are reported once.
 * @throws {SettingsError} that names every wrong variable.
 */
export function readWorkersSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): WorkersSettings {
  const read = readSettings("ingress", environment);
  if (read.OPS_PORT === 0) {
    throw new SettingsError("ingress", [
      "OPS_PORT: expected the first of the workers' ports, by which their parent knows that they serve, got 0",
    ]);
  }
  return groupSettings(read);
}

function groupSettings(read: SettingsOf<"ingress">) {
  return {
    workers: read.INGRESS_WORKERS ?? Math.min(availableParallelism(), DEFAULT_WORKERS_MAX),
    opsBind: read.OPS_BIND,
    /** The operations port of the first worker; the others follow. */
    firstOpsPort: read.OPS_PORT ?? FIRST_OPS_PORT,
    /** The parent's own. */
    poolOpsPort: read.WORKERS_OPS_PORT,
    runtimeDir: resolve(read.RUNTIME_DIR ?? resolve(read.DATA_DIR, "runtime")),
    /** How long a worker that drains waits: for balancers, then for the click writers. */
    drainMs: (read.DRAIN_SECONDS + read.DRAIN_STORED_SECONDS) * 1_000,
    logLevel: read.LOG_LEVEL,
    exitWithParent: read.EXIT_WITH_PARENT,
  } as const;
}

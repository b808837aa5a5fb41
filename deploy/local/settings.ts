import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { readSettings, SettingsError, type SettingsOf } from "../../schemas/host/read-settings.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";

const DEFAULT_WORKERS_MAX = 64;

export type LauncherSettings = ReturnType<typeof groupSettings>;

/**
 * The settings of `npm start`. It also checks the settings of the processes before anything starts; they inherit its environment.
 *
 * @throws {SettingsError} with one line for each wrong variable, and for settings that contradict each other.
 */
export function readLauncherSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): LauncherSettings {
  const read = readSettings("npm start", environment);
  if (read.TRACKING_PORT === read.API_PORT) {
    throw new SettingsError("npm start", [
      `TRACKING_PORT and API_PORT: both are ${read.API_PORT}, expected two different ports`,
    ]);
  }
  if (read.CLICKHOUSE_LAYOUT === "cluster") {
    throw new SettingsError("npm start", [
      "CLICKHOUSE_LAYOUT: is cluster, expected single: `npm start` is for one machine, so run ingress, processors and api as a cluster's hosts do",
    ]);
  }
  return groupSettings(read);
}

function groupSettings(read: SettingsOf<"npm start">) {
  const dataDir = resolve(read.DATA_DIR);
  return {
    dataDir,
    runtimeDir: resolve(read.RUNTIME_DIR ?? resolve(dataDir, "runtime")),
    trackingPort: read.TRACKING_PORT,
    apiPort: read.API_PORT,
    bindAddress: read.BIND_ADDRESS,
    opsBind: read.OPS_BIND,
    trackingUrl: read.TRACKING_URL ?? listenerOrigin(read.BIND_ADDRESS, read.TRACKING_PORT),
    apiUrl: read.API_URL ?? listenerOrigin(read.BIND_ADDRESS, read.API_PORT),
    ingressWorkers: read.INGRESS_WORKERS ?? Math.min(availableParallelism(), DEFAULT_WORKERS_MAX),
    hasDemoTraffic: read.DEMO_TRAFFIC,
    isStrict: read.DURABILITY === "strict",
    singleSite: read.STRICT_SINGLE_SITE,
    standbys: read.STRICT_STANDBYS,
    /** URLs of existing servers. The others are started. */
    servers: {
      postgresUrl: read.POSTGRES_URL,
      natsUrl: read.NATS_URL,
      clickhouseUrl: read.CLICKHOUSE_URL,
    },
  } as const;
}

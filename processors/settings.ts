import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { clickhouseServer } from "../schemas/clickhouse/server.ts";
import { machineMark } from "../schemas/host/machine-mark.ts";
import { readSettings, type SettingsOf } from "../schemas/host/read-settings.ts";
import { natsAccess } from "../schemas/nats/access.ts";
import { streamSettings } from "../schemas/nats/stream-settings.ts";
import { outgoingReach } from "../schemas/outgoing/outgoing-settings.ts";

const OPS_PORT = 9431;
const HOUR_MS = 3_600_000;

export type ProcessorSettings = ReturnType<typeof groupSettings>;

/** @throws {SettingsError} with the name of every wrong variable. */
export function readProcessorSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ProcessorSettings {
  return groupSettings(readSettings("processors", environment));
}

function groupSettings(read: SettingsOf<"processors">) {
  return {
    postgres: { url: read.POSTGRES_URL, password: read.POSTGRES_PASSWORD },
    nats: {
      url: read.NATS_URL,
      access: natsAccess(read),
      prefix: read.NATS_PREFIX,
      groups: Number(read.LANE_GROUPS),
      streams: streamSettings(read),
    },
    clickhouse: clickhouseServer(read),
    durability: {
      level: read.DURABILITY,
      singleSite: read.STRICT_SINGLE_SITE,
      standbys: read.STRICT_STANDBYS,
      natsSystemUrl: read.NATS_SYS_URL,
      natsMonitorUrls: read.NATS_MONITOR_URLS,
    },
    dataDir: read.DATA_DIR,
    tracing: {
      endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: read.OTEL_EXPORTER_OTLP_HEADERS,
    },
    logLevel: read.LOG_LEVEL,
    exitWithParent: read.EXIT_WITH_PARENT,
    ops: { bind: read.OPS_BIND, port: read.OPS_PORT ?? OPS_PORT, name: read.PROCESSOR_NAME },
    roles: read.ROLES,
    clicks: {
      // Without PROCESSOR_NAME the name changes at each start, so the lanes of a killed process wait until their lease ends.
      owner:
        read.PROCESSOR_NAME === undefined
          ? `${hostname()}-${randomBytes(6).toString("hex")}`
          : ownerOf(read.PROCESSOR_NAME, machineMark()),
      leaseMs: read.LANE_LEASE_MS,
      producerPatienceMs: read.PRODUCER_PATIENCE_HOURS * HOUR_MS,
      uniquesMax: read.UNIQUE_VISITS_MAX,
      youngBytesMax: read.YOUNG_CLICKS_BYTES,
    },
    outgoing: outgoingReach(read),
    delivery: {
      postbackWaitsMs: read.POSTBACK_RETRY_SCHEDULE,
      webhookWaitsMs: read.WEBHOOK_RETRY_SCHEDULE,
    },
    schedule: {
      fxFeedUrl: read.FX_FEED_URL,
      clickRetentionDays: read.CLICK_RETENTION_DAYS,
      conversionRetentionDays: read.CONVERSION_RETENTION_DAYS,
    },
  } as const;
}

/** Two machines with the same host name have the same `name`. A name belongs to one of them at a time only if it names the machine. */
function ownerOf(name: string, machine: string): string {
  return machine === "" ? name : `${name}@${machine}`;
}

import { readSettings, type SettingsOf } from "../schemas/host/read-settings.ts";
import { listenerOrigin } from "../schemas/net/listener-origin.ts";
import type { CommandEnvironment } from "./command-line/command.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type ApiSettings = ReturnType<typeof groupSettings>;

/** @throws {SettingsError} listing every wrong variable. */
export function readApiSettings(environment: Environment = process.env): ApiSettings {
  return groupSettings(readSettings("api", environment));
}

function groupSettings(read: SettingsOf<"api">) {
  return {
    bindAddress: read.BIND_ADDRESS,
    port: read.API_PORT,
    apiUrl: read.API_URL ?? listenerOrigin(read.BIND_ADDRESS, read.API_PORT),
    trackingUrl: read.TRACKING_URL ?? listenerOrigin(read.BIND_ADDRESS, read.TRACKING_PORT),
    postgresUrl: read.POSTGRES_URL,
    natsUrl: read.NATS_URL,
    natsPrefix: read.NATS_PREFIX,
    clickhouseUrl: read.CLICKHOUSE_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    rateLimitPerMinute: read.RATE_LIMIT_PER_MINUTE,
    outgoing: { allowLoopback: read.ALLOW_PRIVATE_DESTINATIONS },
    clickRetentionDays: read.CLICK_RETENTION_DAYS,
    logLevel: read.LOG_LEVEL,
    endWithParent: read.EXIT_WITH_PARENT,
  } as const;
}

/** A server that is not set here may still be found through DATA_DIR. @throws {SettingsError} listing every wrong variable. */
export function readCommandSettings(environment: Environment = process.env): CommandEnvironment {
  const read = readSettings("tracker", environment);
  return {
    dataDir: read.DATA_DIR,
    apiUrl: read.API_URL ?? listenerOrigin(read.BIND_ADDRESS, read.API_PORT),
    trackingUrl: read.TRACKING_URL ?? listenerOrigin(read.BIND_ADDRESS, read.TRACKING_PORT),
    natsPrefix: read.NATS_PREFIX,
    natsReplicas: read.NATS_REPLICAS,
    servers: {
      postgresUrl: read.POSTGRES_URL,
      natsUrl: read.NATS_URL,
      clickhouseUrl: read.CLICKHOUSE_URL,
    },
  };
}

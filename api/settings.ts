import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DurabilitySettings } from "../schemas/checks/check.ts";
import { clickhouseServer, clusterName } from "../schemas/clickhouse/server.ts";
import { readSettings, type SettingsOf } from "../schemas/host/read-settings.ts";
import { readSecretFile } from "../schemas/host/secret-file.ts";
import { SETTINGS, type SettingDefinition } from "../schemas/host/setting-definitions.ts";
import { natsAccess } from "../schemas/nats/access.ts";
import { streamSettings } from "../schemas/nats/stream-settings.ts";
import { listenerOrigin } from "../schemas/net/listener-origin.ts";
import { outgoingReach } from "../schemas/outgoing/outgoing-settings.ts";
import { SECRETS_KEY_NAME } from "../schemas/secrets/secret-keys.ts";
import type { CommandEnvironment } from "./cli/command.ts";
import { runningAddresses, runningDurability } from "./cli/servers.ts";

const OPS_PORT = 9441;
const NO_ADDRESSES = { apiUrl: undefined, trackingUrl: undefined };

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
    ops: { bind: read.OPS_BIND, port: read.OPS_PORT ?? OPS_PORT },
    apiUrl: read.API_URL ?? listenerOrigin(read.BIND_ADDRESS, read.API_PORT),
    trackingUrl: read.TRACKING_URL ?? listenerOrigin(read.BIND_ADDRESS, read.TRACKING_PORT),
    postgres: { url: read.POSTGRES_URL, password: read.POSTGRES_PASSWORD },
    nats: {
      url: read.NATS_URL,
      access: natsAccess(read),
      prefix: read.NATS_PREFIX,
      groups: Number(read.LANE_GROUPS),
    },
    clickhouse: clickhouseServer(read),
    clickhouseReader: {
      ...clickhouseServer(read),
      url: read.CLICKHOUSE_READER_URL ?? read.CLICKHOUSE_URL,
    },
    durability: durabilityOf(read),
    trustedProxies: read.TRUSTED_PROXIES,
    rateLimitPerMinute: read.RATE_LIMIT_PER_MINUTE,
    mcpOrigins: read.MCP_ORIGINS,
    outgoing: outgoingReach(read),
    clickRetentionDays: read.CLICK_RETENTION_DAYS,
    access: { share: read.ACCESS_LOG, file: read.ACCESS_LOG_FILE },
    tracing: {
      endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: read.OTEL_EXPORTER_OTLP_HEADERS,
    },
    secretKeys: read.SECRETS_KEY ?? (() => undefined),
    console: {
      secret: read.CONSOLE_SECRET,
      oidc:
        read.OIDC_ISSUER === undefined
          ? undefined
          : {
              issuer: read.OIDC_ISSUER,
              clientId: read.OIDC_CLIENT_ID ?? "",
              clientSecret: read.OIDC_CLIENT_SECRET,
              name: read.OIDC_NAME,
            },
      mail:
        read.SMTP_URL === undefined
          ? undefined
          : { url: read.SMTP_URL, from: read.MAIL_FROM ?? "" },
    },
    logLevel: read.LOG_LEVEL,
    endWithParent: read.EXIT_WITH_PARENT,
    serveOnMs: read.DRAIN_SECONDS * 1_000,
  } as const;
}

function secretFilesIn(environment: Environment): string[] {
  const secrets = Object.entries<SettingDefinition>(SETTINGS).filter(([, one]) => one.isSecret);
  const names = secrets.map(([name]) => `${name}_FILE`);
  return [...names, "NATS_CREDS_FILE", "NATS_NKEY_FILE", "NATS_KEY_FILE"]
    .map((name) => environment[name] ?? "")
    .filter((file) => file !== "");
}

/** The ring of keys, and the file that it is in. What is not set is that of the one-machine run in DATA_DIR. */
function keyRingOf(
  read: SettingsOf<"tracker">,
  environment: Environment,
): CommandEnvironment["secretKeys"] {
  if (read.SECRETS_KEY !== undefined)
    return { read: read.SECRETS_KEY, file: environment["SECRETS_KEY_FILE"] || undefined };
  const file = join(read.DATA_DIR, SECRETS_KEY_NAME);
  return { read: () => (existsSync(file) ? readSecretFile(file) : undefined), file };
}

function durabilityOf(read: SettingsOf<"api"> | SettingsOf<"tracker">): DurabilitySettings {
  return {
    level: read.DURABILITY,
    singleSite: read.STRICT_SINGLE_SITE,
    standbys: read.STRICT_STANDBYS,
    natsSystemUrl: read.NATS_SYS_URL,
    natsMonitorUrls: read.NATS_MONITOR_URLS,
  };
}

/** A server that is not set here may still be found through DATA_DIR. @throws {SettingsError} listing every wrong variable. */
export function readCommandSettings(environment: Environment = process.env): CommandEnvironment {
  const read = readSettings("tracker", environment);
  return {
    dataDir: read.DATA_DIR,
    ...publicAddresses(read, environment),
    natsSpace: { prefix: read.NATS_PREFIX, groups: Number(read.LANE_GROUPS) },
    streams: streamSettings(read),
    durability: commandDurability(read, environment),
    lanes: read.CLICK_LANES === undefined ? undefined : Number(read.CLICK_LANES),
    postgresDirect: withUrl(read.POSTGRES_DIRECT_URL, { password: read.POSTGRES_PASSWORD }),
    secretFiles: secretFilesIn(environment),
    secretKeys: keyRingOf(read, environment),
    servers: {
      postgres: withUrl(read.POSTGRES_URL, { password: read.POSTGRES_PASSWORD }),
      nats: withUrl(read.NATS_URL, { access: natsAccess(read) }),
      clickhouse: withUrl(read.CLICKHOUSE_URL, {
        caFile: read.CLICKHOUSE_CA_FILE,
        cluster: clusterName(read),
      }),
    },
  };
}

/** What the environment does not name is as in the one-machine run in DATA_DIR, unless it names other servers. */
function commandDurability(
  read: SettingsOf<"tracker">,
  environment: Environment,
): DurabilitySettings {
  const given = durabilityOf(read);
  if (read.POSTGRES_URL !== undefined) return given;
  const running = runningDurability(read.DATA_DIR);
  const {
    level = given.level,
    singleSite = given.singleSite,
    standbys = given.standbys,
    natsSystemUrl,
  } = running;
  return {
    ...given,
    ...(environment["DURABILITY"] ? {} : { level }),
    ...(environment["STRICT_SINGLE_SITE"] ? {} : { singleSite }),
    ...(environment["STRICT_STANDBYS"] ? {} : { standbys }),
    natsSystemUrl: given.natsSystemUrl ?? natsSystemUrl,
  };
}

/** Addresses that the environment does not name are as in the one-machine run in DATA_DIR, unless it names other servers. */
function publicAddresses(
  read: SettingsOf<"tracker">,
  environment: Environment,
): Pick<CommandEnvironment, "apiUrl" | "trackingUrl"> {
  const isSet = (...names: string[]): boolean => names.some((name) => Boolean(environment[name]));
  const running = read.POSTGRES_URL === undefined ? runningAddresses(read.DATA_DIR) : NO_ADDRESSES;
  const { BIND_ADDRESS: bind } = read;
  return {
    apiUrl:
      read.API_URL ??
      (isSet("API_PORT", "BIND_ADDRESS") ? undefined : running.apiUrl) ??
      listenerOrigin(bind, read.API_PORT),
    trackingUrl:
      read.TRACKING_URL ??
      (isSet("TRACKING_PORT", "BIND_ADDRESS") ? undefined : running.trackingUrl) ??
      listenerOrigin(bind, read.TRACKING_PORT),
  };
}

function withUrl<Access extends object>(
  url: string | undefined,
  access: Access,
): (Access & { readonly url: string }) | undefined {
  return url === undefined ? undefined : { url, ...access };
}

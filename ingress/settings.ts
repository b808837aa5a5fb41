import { readSettings, type SettingsOf } from "../schemas/host/read-settings.ts";
import { natsAccess } from "../schemas/nats/access.ts";

const OPS_PORT = 9411;

export type IngressSettings = ReturnType<typeof groupSettings>;

/** @throws {SettingsError} that names every wrong variable. */
export function readIngressSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): IngressSettings {
  return groupSettings(readSettings("ingress", environment));
}

function groupSettings(read: SettingsOf<"ingress">) {
  return {
    dataDir: read.DATA_DIR,
    port: read.TRACKING_PORT,
    bind: read.BIND_ADDRESS,
    ops: { bind: read.OPS_BIND, port: read.OPS_PORT ?? OPS_PORT },
    nats: {
      url: read.NATS_URL,
      access: natsAccess(read),
      prefix: read.NATS_PREFIX,
      groups: Number(read.LANE_GROUPS),
    },
    postgres: { url: read.POSTGRES_URL, password: read.POSTGRES_PASSWORD },
    durability: {
      level: read.DURABILITY,
      singleSite: read.STRICT_SINGLE_SITE,
      standbys: read.STRICT_STANDBYS,
      natsSystemUrl: read.NATS_SYS_URL,
      natsMonitorUrls: read.NATS_MONITOR_URLS,
    },
    trustedProxies: read.TRUSTED_PROXIES,
    ipRequestsPerMinute: read.IP_REQUESTS_PER_MINUTE,
    ipLookupsPerMinute: read.IP_LOOKUPS_PER_MINUTE,
    geo: { cityDb: read.GEO_CITY_DB, asnDb: read.GEO_ASN_DB },
    journalSync: read.JOURNAL_SYNC,
    journalReserveBytes: read.JOURNAL_RESERVE_BYTES,
    access: { share: read.ACCESS_LOG, file: read.ACCESS_LOG_FILE },
    tracing: {
      endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: read.OTEL_EXPORTER_OTLP_HEADERS,
    },
    logLevel: read.LOG_LEVEL,
    exitWithParent: read.EXIT_WITH_PARENT,
    serveOnMs: read.DRAIN_SECONDS * 1_000,
    storedMs: read.DRAIN_STORED_SECONDS * 1_000,
  } as const;
}

/**
 * Call this before the native server is loaded, which reads the variable once. Its default for a request's head, 4 KB, is too
 * small for `url=`: 4,096 characters, each up to twelve bytes when percent-encoded.
 */
export function prepareNativeServer(): void {
  process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= "65536";
}

import { z } from "zod";
import { list, onOff, readSettings, url, wholeNumber } from "../schemas/host/read-settings.ts";

const Settings = z.object({
  /** `journal/` lies below it. */
  DATA_DIR: z.string().default(".data"),
  TRACKING_PORT: wholeNumber({ min: 1, max: 65_535 }).default(8_080),
  BIND_ADDRESS: z.string().default("127.0.0.1"),
  /** GET /health with all facts, and /metrics, on 127.0.0.1; 0 takes any free port, which the log says. Without it, no such listener. */
  INGRESS_HEALTH_PORT: wholeNumber({ min: 0, max: 65_535 }).optional(),
  /**
   * 1: the same on the tracking port, for callers from the loopback address that no header shows to be a proxy. Not behind a proxy on
   * this machine: one that adds no header would show the facts to everybody.
   */
  FACTS_ON_TRACKING_PORT: onOff().default(false),
  NATS_URL: url("nats", "tls"),
  /** Put before every subject, so that several installations share one server. */
  NATS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]*$/, "expected letters, digits, dots, dashes and underscores")
    .default(""),
  /** The catalog, and once the number of a new producer. */
  POSTGRES_URL: url("postgres", "postgresql"),
  /** Addresses and CIDRs whose X-Forwarded-For counts (P33). */
  TRUSTED_PROXIES: list().default([]),
  /** Requests a minute that each address may send to the tracking paths; 0 limits nobody (G152). */
  IP_REQUESTS_PER_MINUTE: wholeNumber({ min: 0, max: 1_000_000 }).default(0),
  /** Look-ups of clicks a minute that find nothing, of each address, by pixels and landing pages; 0 limits nobody. */
  IP_LOOKUPS_PER_MINUTE: wholeNumber({ min: 0, max: 1_000_000 }).default(300),
  /** MMDB files instead of the ones that come with the install (G154). */
  GEO_CITY_DB: z.string().default(""),
  GEO_ASN_DB: z.string().default(""),
  /** When an answer leaves: `interval` after the write, on disk within 20 ms · `always` after the disk has it · `none`. */
  JOURNAL_SYNC: z.enum(["interval", "always", "none"]).default("interval"),
  /** Bytes of the journal's disk that are left to others; without it 5 %, at least 1 GiB, at most a quarter of the disk. */
  JOURNAL_RESERVE_BYTES: wholeNumber({ min: 0, max: 1_000_000_000_000 }).optional(),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  /** 1: ends when its standard input does. The launcher holds the other end. */
  EXIT_WITH_PARENT: onOff().default(false),
});

export type IngressSettings = {
  readonly dataDir: string;
  readonly port: number;
  readonly bind: string;
  readonly healthPort: number | undefined;
  readonly factsOnTrackingPort: boolean;
  readonly nats: { readonly url: string; readonly prefix: string };
  readonly postgresUrl: string;
  readonly trustedProxies: readonly string[];
  readonly ipRequestsPerMinute: number;
  readonly ipLookupsPerMinute: number;
  readonly geo: { readonly cityDb: string; readonly asnDb: string };
  readonly journalSync: "interval" | "always" | "none";
  readonly journalReserveBytes: number | undefined;
  readonly logLevel: string;
  readonly exitWithParent: boolean;
};

/** @throws {SettingsError} that names every wrong variable. */
export function readIngressSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): IngressSettings {
  const read = readSettings(Settings, environment);
  return Object.freeze({
    dataDir: read.DATA_DIR,
    port: read.TRACKING_PORT,
    bind: read.BIND_ADDRESS,
    healthPort: read.INGRESS_HEALTH_PORT,
    factsOnTrackingPort: read.FACTS_ON_TRACKING_PORT,
    nats: { url: read.NATS_URL, prefix: read.NATS_PREFIX },
    postgresUrl: read.POSTGRES_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    ipRequestsPerMinute: read.IP_REQUESTS_PER_MINUTE,
    ipLookupsPerMinute: read.IP_LOOKUPS_PER_MINUTE,
    geo: { cityDb: read.GEO_CITY_DB, asnDb: read.GEO_ASN_DB },
    journalSync: read.JOURNAL_SYNC,
    journalReserveBytes: read.JOURNAL_RESERVE_BYTES,
    logLevel: read.LOG_LEVEL,
    exitWithParent: read.EXIT_WITH_PARENT,
  });
}

/**
 * Must come before the native server is loaded, which reads it once: its default for a request's head, 4 KB, is too small for
 * `url=`, whose 4,096 characters take up to twelve bytes each while they are percent-encoded.
 */
export function prepareNativeServer(): void {
  process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= "65536";
}

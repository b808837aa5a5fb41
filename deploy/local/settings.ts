import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";
import {
  onOff,
  readSettings,
  SettingsError,
  url,
  wholeNumber,
} from "../../schemas/host/read-settings.ts";
import { isAddressOrCidr } from "../../schemas/net/ip-ranges.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What people are told about a variable. */
const About = z.object({ type: z.string(), unset: z.string(), meaning: z.string() });
type About = z.infer<typeof About>;

const INGRESS_WORKERS_MAX = 64;
const SCHEDULE_STEPS_MAX = 50;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/**
 * Every variable of an installation: one table for the check at the start and for the README. The launcher uses some
 * itself; the others it checks before anything is started, and passes on.
 */
const Variables = z.object({
  DATA_DIR: about(z.string().default(".data"), {
    type: "folder",
    unset: ".data",
    meaning:
      "what the one-machine run keeps: Postgres, JetStream, ClickHouse, click journals, logs",
  }),
  RUNTIME_DIR: about(z.string().optional(), {
    type: "folder",
    unset: "DATA_DIR/runtime",
    meaning: "programs that are downloaded once; may be shared by several DATA_DIRs",
  }),
  TRACKING_PORT: about(wholeNumber({ min: 1, max: 65_535 }).default(8080), {
    type: "port",
    unset: "8080",
    meaning: "listener of the tracking domain",
  }),
  API_PORT: about(wholeNumber({ min: 1, max: 65_535 }).default(8081), {
    type: "port",
    unset: "8081",
    meaning: "listener of REST and MCP",
  }),
  BIND_ADDRESS: about(
    z
      .string()
      .refine((text) => isIP(text) !== 0, "expected an IP address")
      .default("127.0.0.1"),
    { type: "IP address", unset: "127.0.0.1", meaning: "address of both listeners" },
  ),
  TRACKING_URL: about(publicAddress(), {
    type: "http(s) origin",
    unset: "from address and port",
    meaning: "public address of the tracking domain, used in links",
  }),
  API_URL: about(publicAddress(), {
    type: "http(s) origin",
    unset: "from address and port",
    meaning: "public address of the API, used in the OpenAPI document",
  }),
  INGRESS_WORKERS: about(wholeNumber({ min: 1, max: INGRESS_WORKERS_MAX }).optional(), {
    type: `1 to ${INGRESS_WORKERS_MAX}`,
    unset: "number of cores",
    meaning: "ingress processes that share the port",
  }),
  NATS_URL: about(natsUrls().optional(), {
    type: "nats:// or tls://, comma-separated",
    unset: "started by `npm start`",
    meaning: "an existing NATS server or cluster with JetStream",
  }),
  POSTGRES_URL: about(url("postgres", "postgresql").optional(), {
    type: "postgres://",
    unset: "started by `npm start`",
    meaning: "an existing Postgres database",
  }),
  CLICKHOUSE_URL: about(url("http", "https").optional(), {
    type: "http(s)://user:password@host:port/database",
    unset: "started by `npm start`",
    meaning: "an existing ClickHouse server or cluster",
  }),
  TRUSTED_PROXIES: about(networks().default(""), {
    type: "addresses and CIDRs, comma-separated",
    unset: "empty",
    meaning: "whose X-Forwarded-For counts",
  }),
  IP_LOOKUPS_PER_MINUTE: about(wholeNumber({ min: 0, max: 1_000_000 }).default(300), {
    type: "0 to 1000000",
    unset: "300",
    meaning:
      "look-ups of clicks a minute that find nothing, which one address may cause by pixels and landing pages; 0 limits nobody",
  }),
  IP_REQUESTS_PER_MINUTE: about(wholeNumber({ min: 0, max: 1_000_000 }).default(0), {
    type: "0 to 1000000",
    unset: "0",
    meaning: "requests a minute that one address may send to the tracking domain; 0 limits nobody",
  }),
  JOURNAL_RESERVE_BYTES: about(wholeNumber({ min: 0, max: 1_000_000_000_000 }).optional(), {
    type: "0 to 1000000000000",
    unset: "5 % of the disk, at least 1 GiB, at most a quarter",
    meaning:
      "bytes of the journal's disk that are left to others; beyond them clicks go to NATS directly",
  }),
  PRODUCER_PATIENCE_HOURS: about(wholeNumber({ min: 1, max: 48 }).default(48), {
    type: "1 to 48",
    unset: "48",
    meaning:
      "how long look-ups of clicks wait for an ingress that is silent; the command producer give-up ends it",
  }),
  JOURNAL_SYNC: about(z.enum(["interval", "always", "none"]).default("interval"), {
    type: "interval, always, none",
    unset: "interval",
    meaning:
      "when an answered click is on the disk: within 20 ms, before the answer, or when the system likes",
  }),
  FACTS_ON_TRACKING_PORT: about(onOff().default(false), {
    type: "0 or 1",
    unset: "0",
    meaning:
      "1 shows metrics and the facts of /health on the tracking port to this machine; not with a proxy on it, which could pass them on",
  }),
  ALLOW_PRIVATE_DESTINATIONS: about(onOff().default(false), {
    type: "0 or 1",
    unset: "0",
    meaning: "1 lets webhooks and postbacks reach loopback addresses, for trying it out",
  }),
  RATE_LIMIT_PER_MINUTE: about(wholeNumber({ min: 1, max: 1_000_000 }).default(600), {
    type: "1 to 1000000",
    unset: "600",
    meaning: "API requests a minute and key",
  }),
  POSTBACK_RETRY_SCHEDULE: about(schedule().optional(), {
    type: "durations (5s, 2m, 1h), comma-separated",
    unset: "12 attempts over about 3 days",
    meaning: "waits between the attempts to deliver a partner postback",
  }),
  WEBHOOK_RETRY_SCHEDULE: about(schedule().optional(), {
    type: "durations (5s, 2m, 1h), comma-separated",
    unset: "as POSTBACK_RETRY_SCHEDULE's default",
    meaning: "waits between the attempts to deliver a webhook",
  }),
  FX_FEED_URL: about(url("http", "https").optional(), {
    type: "http(s) URL",
    unset: "no feed: rates come by `POST /fx-rates`",
    meaning:
      "daily reference rates in the form of the European Central Bank, such as https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
  }),
  CLICK_RETENTION_DAYS: about(
    wholeNumber({ min: 0, max: 3_650 })
      .refine((days) => days === 0 || days >= 31, "expected 0, or at least 31")
      .default(0),
    {
      type: "0, or 31 to 3650",
      unset: "0",
      meaning:
        "days for which a click keeps its visitor's address, browser and ad-platform ids; they go with the whole month, no report changes; 0 keeps them",
    },
  ),
  FACTS_AUDIT_MINUTES: about(wholeNumber({ min: 1, max: 1_440 }).default(60), {
    type: "1 to 1440",
    unset: "60",
    meaning:
      "minutes between two comparisons of the last days' conversions and ad costs in ClickHouse with Postgres",
  }),
  CONVERSION_RETENTION_DAYS: about(
    wholeNumber({ min: 0, max: 3_650 })
      .refine((days) => days === 0 || days >= 31, "expected 0, or at least 31")
      .default(0),
    {
      type: "0, or 31 to 3650",
      unset: "0",
      meaning:
        "days for which a conversion keeps its visitor's address, e-mail and phone hashes and ad-platform ids; no report changes; 0 keeps them",
    },
  ),
  GEO_CITY_DB: about(existingFile().optional(), {
    type: "MMDB file",
    unset: "comes with the install",
    meaning: "country, region and city of an address",
  }),
  GEO_ASN_DB: about(existingFile().optional(), {
    type: "MMDB file",
    unset: "comes with the install",
    meaning: "network operator of an address",
  }),
  LOG_LEVEL: about(z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(", ")}`).default("info"), {
    type: LOG_LEVELS.join(", "),
    unset: "info",
    meaning: "how much the processes log",
  }),
});

/** What the launcher itself works with; the processes read the rest from the environment that is passed on. */
export interface LauncherSettings {
  /** Absolute. */
  dataDir: string;
  /** Absolute. */
  runtimeDir: string;
  trackingPort: number;
  apiPort: number;
  bindAddress: string;
  /** Without a slash at the end. */
  trackingUrl: string;
  /** Without a slash at the end. */
  apiUrl: string;
  ingressWorkers: number;
  /** Servers that exist already; the absent ones are started. */
  servers: { postgresUrl?: string; natsUrl?: string; clickhouseUrl?: string };
}

/**
 * The settings of a one-machine run.
 *
 * @throws {SettingsError} with one line for each wrong variable, and for settings that contradict each other.
 */
export function readLauncherSettings(environment: Environment): LauncherSettings {
  const given = readSettings(Variables, environment);
  if (given.TRACKING_PORT === given.API_PORT) {
    throw new SettingsError(
      `TRACKING_PORT and API_PORT: both are ${given.API_PORT}, expected two different ports`,
    );
  }
  const dataDir = resolve(given.DATA_DIR);
  return Object.freeze({
    dataDir,
    runtimeDir:
      given.RUNTIME_DIR === undefined ? resolve(dataDir, "runtime") : resolve(given.RUNTIME_DIR),
    trackingPort: given.TRACKING_PORT,
    apiPort: given.API_PORT,
    bindAddress: given.BIND_ADDRESS,
    trackingUrl: given.TRACKING_URL ?? listenerOrigin(given.BIND_ADDRESS, given.TRACKING_PORT),
    apiUrl: given.API_URL ?? listenerOrigin(given.BIND_ADDRESS, given.API_PORT),
    ingressWorkers: given.INGRESS_WORKERS ?? Math.min(availableParallelism(), INGRESS_WORKERS_MAX),
    servers: {
      ...(given.POSTGRES_URL === undefined ? {} : { postgresUrl: given.POSTGRES_URL }),
      ...(given.NATS_URL === undefined ? {} : { natsUrl: given.NATS_URL }),
      ...(given.CLICKHOUSE_URL === undefined ? {} : { clickhouseUrl: given.CLICKHOUSE_URL }),
    },
  });
}

/** The table of all variables in Markdown, as the README shows it. */
export function renderSettings(): string {
  const rows = Object.entries(Variables.shape).map(([name, schema]) => {
    const { type, unset, meaning } = About.parse(schema.meta());
    return `| ${name} | ${type} | ${unset} | ${meaning} |`;
  });
  return ["| variable | type | when unset | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function about<Schema extends z.ZodType>(schema: Schema, text: About): Schema {
  return schema.meta(text);
}

function publicAddress(): z.ZodType<string | undefined, string | undefined> {
  const message = "expected an address such as https://track.example.com, without a path";
  return url("http", "https")
    .refine((text) => /^\/?$/.test(new URL(text).pathname + new URL(text).search), message)
    .transform((text) => text.replace(/\/$/, ""))
    .optional();
}

function natsUrls(): z.ZodType<string, string> {
  const message = "expected nats://host:port or tls://host:port, several separated by commas";
  const one = /^(nats|tls):\/\/[^\s,/]+$/;
  return z
    .string()
    .refine((text) => text.split(",").every((part) => one.test(part.trim())), message);
}

function networks(): z.ZodType<string, string> {
  const message = "expected IP addresses or CIDRs such as 10.0.0.0/8, separated by commas";
  return z
    .string()
    .refine(
      (text) => text.split(",").every((item) => item.trim() === "" || isAddressOrCidr(item.trim())),
      message,
    );
}

function schedule(): z.ZodType<string, string> {
  const message = `expected 1 to ${SCHEDULE_STEPS_MAX} durations such as 0,5s,30s,2m,1h`;
  return z.string().refine((text) => {
    const steps = text.split(",").map((step) => step.trim());
    return (
      steps.length <= SCHEDULE_STEPS_MAX &&
      steps.every((step) => /^\d{1,9}(ms|s|m|h|d)?$/.test(step))
    );
  }, message);
}

function existingFile(): z.ZodType<string, string> {
  return z.string().refine((text) => existsSync(text), "there is no such file");
}

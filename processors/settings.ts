import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { z } from "zod";
import {
  durations,
  list,
  onOff,
  readSettings,
  url,
  wholeNumber,
} from "../schemas/host/read-settings.ts";

const MINUTE_MS = 60_000;

/** The lanes of work that a process may run. */
export const LANE_NAMES = ["clicks", "conversions", "facts", "delivery", "schedule"] as const;
export type LaneName = (typeof LANE_NAMES)[number];

const HOUR_MS = 3_600_000;

const Settings = z.object({
  /** System of record: leases, conversions. */
  POSTGRES_URL: url("postgres", "postgresql"),
  NATS_URL: url("nats", "tls"),
  /** Put before every subject, so that several installations share one server. */
  NATS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]*$/, "expected letters, digits, dots, dashes and underscores")
    .default(""),
  /** `http://user:password@host:port/database`. */
  CLICKHOUSE_URL: url("http", "https"),
  /** Where the copy of the catalog is kept. */
  DATA_DIR: z.string().default(".data"),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  /** 1: ends when its standard input does. The launcher holds the other end. */
  EXIT_WITH_PARENT: onOff().default(false),
  /** GET /health and /metrics on 127.0.0.1; 0 takes any free port, which the log tells. */
  PROCESSORS_HEALTH_PORT: wholeNumber({ min: 0, max: 65_535 }).default(8_082),
  /** Which lanes of work this process runs. */
  LANES: list()
    .pipe(z.array(z.enum(LANE_NAMES)).min(1, "expected at least one lane"))
    .default([...LANE_NAMES]),
  /**
   * A name that only one process has at a time: its next process takes its lanes over at once. Without one, lanes of a killed
   * process wait for their lease to end.
   */
  PROCESSOR_NAME: z
    .string()
    .max(100)
    .default(() => `${hostname()}-${randomBytes(6).toString("hex")}`),
  /** How long a hold that is over may wait for its release. Milliseconds (G98). */
  HOLD_TICK_MS: wholeNumber({ min: 10, max: 60_000 }).default(1_000),
  /** Daily reference rates in the form of the European Central Bank, XML or CSV; empty for none (G76). */
  FX_FEED_URL: z.string().default(""),
  /**
   * Days for which a click keeps the address, browser and ids of its visitor, at least; they go with the whole month. 0 keeps
   * them for ever. Fraud checks and look-ups by ad ids need them for as long as conversions are expected.
   */
  CLICK_RETENTION_DAYS: wholeNumber({ min: 0, max: 3_650 })
    .refine((days) => days === 0 || days >= 31, "expected 0, or at least 31")
    .default(0),
  /** How often the copies of the last days' conversions and ad costs in ClickHouse are compared with Postgres. Minutes. */
  FACTS_AUDIT_MINUTES: wholeNumber({ min: 1, max: 1_440 }).default(60),
  /**
   * Days for which a conversion keeps its visitor's address, e-mail and phone hashes and ad-platform ids. 0 keeps them. E-mail
   * attribution needs the hashes for as long as later sales of a person are expected.
   */
  CONVERSION_RETENTION_DAYS: wholeNumber({ min: 0, max: 3_650 })
    .refine((days) => days === 0 || days >= 31, "expected 0, or at least 31")
    .default(0),
  /** 1: requests may go to loopback addresses, for trying it out (G127). */
  ALLOW_PRIVATE_DESTINATIONS: onOff().default(false),
  /** Waits between the attempts to deliver a partner postback (G126); one attempt more than there are waits. */
  POSTBACK_RETRY_SCHEDULE: durations({ itemsMax: 50 }).optional(),
  /** The same of webhooks (G130). */
  WEBHOOK_RETRY_SCHEDULE: durations({ itemsMax: 50 }).optional(),
  /** How long a click lane stays with a writer that says nothing. Milliseconds. */
  LANE_LEASE_MS: wholeNumber({ min: 1_000, max: 300_000 }).default(30_000),
  /**
   * How long look-ups, and coupons whose click is missing, wait for an ingress that is silent and has not ended: until then clicks
   * may lie in its journal. After it the ingress is given up. At most the 48 h after which an unknown id is one made up by chance.
   */
  PRODUCER_PATIENCE_HOURS: wholeNumber({ min: 1, max: 48 }).default(48),
  /** Visits that each click lane remembers to tell unique clicks; 33 to 67 bytes each. */
  UNIQUE_VISITS_MAX: wholeNumber({ min: 1_000, max: 50_000_000 }).default(4_000_000),
});

export type ProcessorSettings = {
  readonly postgresUrl: string;
  readonly nats: { readonly url: string; readonly prefix: string };
  readonly clickhouseUrl: string;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly exitWithParent: boolean;
  readonly healthPort: number;
  readonly lanes: readonly LaneName[];
  readonly clicks: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly producerPatienceMs: number;
    readonly uniquesMax: number;
  };
  readonly outgoing: { readonly allowLoopback: boolean };
  readonly delivery: {
    readonly postbackWaitsMs: readonly number[] | undefined;
    readonly webhookWaitsMs: readonly number[] | undefined;
  };
  readonly schedule: {
    readonly holdTickMs: number;
    readonly fxFeedUrl: string;
    readonly clickRetentionDays: number;
    readonly factsAuditMs: number;
    readonly conversionRetentionDays: number;
  };
};

/** @throws {SettingsError} that names every wrong variable. */
export function readProcessorSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ProcessorSettings {
  const read = readSettings(Settings, environment);
  return Object.freeze({
    postgresUrl: read.POSTGRES_URL,
    nats: { url: read.NATS_URL, prefix: read.NATS_PREFIX },
    clickhouseUrl: read.CLICKHOUSE_URL,
    dataDir: read.DATA_DIR,
    logLevel: read.LOG_LEVEL,
    exitWithParent: read.EXIT_WITH_PARENT,
    healthPort: read.PROCESSORS_HEALTH_PORT,
    lanes: read.LANES,
    clicks: {
      owner: read.PROCESSOR_NAME,
      leaseMs: read.LANE_LEASE_MS,
      producerPatienceMs: read.PRODUCER_PATIENCE_HOURS * HOUR_MS,
      uniquesMax: read.UNIQUE_VISITS_MAX,
    },
    outgoing: { allowLoopback: read.ALLOW_PRIVATE_DESTINATIONS },
    delivery: {
      postbackWaitsMs: read.POSTBACK_RETRY_SCHEDULE,
      webhookWaitsMs: read.WEBHOOK_RETRY_SCHEDULE,
    },
    schedule: {
      holdTickMs: read.HOLD_TICK_MS,
      fxFeedUrl: read.FX_FEED_URL,
      clickRetentionDays: read.CLICK_RETENTION_DAYS,
      factsAuditMs: read.FACTS_AUDIT_MINUTES * MINUTE_MS,
      conversionRetentionDays: read.CONVERSION_RETENTION_DAYS,
    },
  });
}

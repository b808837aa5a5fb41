import { isIP } from "node:net";
import { z } from "zod";
import { list, onOff, readSettings, url, wholeNumber } from "../schemas/host/read-settings.ts";
import { isAddressOrCidr } from "../schemas/net/ip-ranges.ts";
import { listenerOrigin } from "../schemas/net/listener-origin.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const PORT = { min: 1, max: 65_535 };

/** An origin without a path, no slash at its end. */
const origin = url("http", "https").transform((text) => text.replace(/\/+$/, ""));
const listener = {
  BIND_ADDRESS: z
    .string()
    .refine((text) => isIP(text) !== 0, "expected an IP address")
    .default("127.0.0.1"),
  API_PORT: wholeNumber(PORT).default(8081),
  TRACKING_PORT: wholeNumber(PORT).default(8080),
  API_URL: origin.optional(),
  TRACKING_URL: origin.optional(),
};

const Variables = z.object({
  ...listener,
  POSTGRES_URL: url("postgres", "postgresql"),
  NATS_URL: z.string(),
  NATS_PREFIX: z.string().default(""),
  CLICKHOUSE_URL: url("http", "https"),
  TRUSTED_PROXIES: list()
    .refine(
      (entries) => entries.every(isAddressOrCidr),
      "expected IP addresses or CIDRs, separated by commas",
    )
    .default([]),
  RATE_LIMIT_PER_MINUTE: wholeNumber({ min: 1, max: 1_000_000 }).default(600),
  ALLOW_PRIVATE_DESTINATIONS: onOff().default(false),
  CLICK_RETENTION_DAYS: wholeNumber({ min: 0, max: 3_650 }).default(0),
  LOG_LEVEL: z
    .enum(
      ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      "expected a level such as info",
    )
    .default("info"),
  EXIT_WITH_PARENT: onOff().default(false),
});

export type ApiSettings = {
  readonly bindAddress: string;
  readonly port: number;
  /** Public origins, without a slash at the end. */
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly postgresUrl: string;
  readonly natsUrl: string;
  readonly natsPrefix: string;
  readonly clickhouseUrl: string;
  readonly trustedProxies: readonly string[];
  readonly rateLimitPerMinute: number;
  /**
   * Whether the template tester may reach loopback and private addresses, and webhooks lead to this machine, for trying it
   * out (G127).
   */
  readonly outgoing: { readonly allowLoopback: boolean };
  /** As the processors have it: how long visitors of clicks are known. 0 for ever. */
  readonly clickRetentionDays: number;
  readonly logLevel: string;
  readonly endWithParent: boolean;
};

/** @throws {SettingsError} that names every wrong variable. */
export function readApiSettings(environment: Environment = process.env): ApiSettings {
  const given = readSettings(Variables, environment);
  return Object.freeze({
    bindAddress: given.BIND_ADDRESS,
    port: given.API_PORT,
    ...originsOf(given),
    postgresUrl: given.POSTGRES_URL,
    natsUrl: given.NATS_URL,
    natsPrefix: given.NATS_PREFIX,
    clickhouseUrl: given.CLICKHOUSE_URL,
    trustedProxies: given.TRUSTED_PROXIES,
    rateLimitPerMinute: given.RATE_LIMIT_PER_MINUTE,
    outgoing: { allowLoopback: given.ALLOW_PRIVATE_DESTINATIONS },
    clickRetentionDays: given.CLICK_RETENTION_DAYS,
    logLevel: given.LOG_LEVEL,
    endWithParent: given.EXIT_WITH_PARENT,
  });
}

const CommandVariables = z.object({
  ...listener,
  DATA_DIR: z.string().default(".data"),
  POSTGRES_URL: url("postgres", "postgresql").optional(),
  NATS_URL: z.string().optional(),
  NATS_PREFIX: z.string().default(""),
  CLICKHOUSE_URL: url("http", "https").optional(),
  NATS_REPLICAS: wholeNumber({ min: 1, max: 5 }).default(1),
});

/** What a command of the command line works with. A server that is not named may still be found in DATA_DIR. */
export type CommandSettings = {
  readonly dataDir: string;
  readonly apiUrl: string;
  readonly trackingUrl: string;
  readonly natsPrefix: string;
  readonly natsReplicas: number;
  readonly servers: {
    readonly postgresUrl: string | undefined;
    readonly natsUrl: string | undefined;
    readonly clickhouseUrl: string | undefined;
  };
};

/** @throws {SettingsError} that names every wrong variable. */
export function readCommandSettings(environment: Environment = process.env): CommandSettings {
  const given = readSettings(CommandVariables, environment);
  return Object.freeze({
    dataDir: given.DATA_DIR,
    ...originsOf(given),
    natsPrefix: given.NATS_PREFIX,
    natsReplicas: given.NATS_REPLICAS,
    servers: {
      postgresUrl: given.POSTGRES_URL,
      natsUrl: given.NATS_URL,
      clickhouseUrl: given.CLICKHOUSE_URL,
    },
  });
}

type Listener = {
  readonly BIND_ADDRESS: string;
  readonly API_PORT: number;
  readonly TRACKING_PORT: number;
  readonly API_URL?: string | undefined;
  readonly TRACKING_URL?: string | undefined;
};

function originsOf(given: Listener): { apiUrl: string; trackingUrl: string } {
  return {
    apiUrl: given.API_URL ?? listenerOrigin(given.BIND_ADDRESS, given.API_PORT),
    trackingUrl: given.TRACKING_URL ?? listenerOrigin(given.BIND_ADDRESS, given.TRACKING_PORT),
  };
}

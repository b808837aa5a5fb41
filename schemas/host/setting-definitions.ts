import { isKeyRing } from "../secrets/secret-keys.ts";
import { BACKUP_SETTINGS } from "./backup-settings.ts";
import { DELIVERY_SETTINGS } from "./delivery-settings.ts";
import { DURABILITY_SETTINGS } from "./durability-settings.ts";
import { MCP_SETTINGS } from "./mcp-settings.ts";
import { SERVER_SETTINGS } from "./server-settings.ts";
import type { SettingType } from "./setting-types.ts";
import {
  accessShare,
  existingFile,
  folder,
  ipAddress,
  mailAddress,
  networks,
  oidcIssuer,
  oneOf,
  onOff,
  origin,
  port,
  portOrAny,
  someOf,
  text,
  url,
  urlOrOff,
  wholeNumber,
} from "./setting-types.ts";

export type Process = "npm start" | "ingress" | "processors" | "api" | "tracker";

export type SettingDefinition = {
  readonly type: SettingType<unknown>;
  /** As an operator would write it. */
  readonly default?: string;
  /** The default of `npm start`, if it differs. */
  readonly launcherDefault?: string;
  /** What happens without a default when the variable is not set. */
  readonly unset?: string;
  readonly requiredBy?: readonly Process[];
  readonly readBy: readonly Process[];
  /** The value may contain a password, so no message shows it. `<name>_FILE` may name a file that holds it. */
  readonly isSecret?: true;
  /** The file is read again for each new connection. */
  readonly isReread?: true;
  readonly meaning: string;
};

/** What `ROLES` selects from. */
const ROLES = ["clicks", "conversions", "facts", "delivery", "schedule"] as const;
/** With the last 90 days, so that a report of some days ago has its rate, too. */
const REFERENCE_RATES = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml";
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const perMinute = wholeNumber({ min: 0, max: 1_000_000 });
const retention = wholeNumber({ min: 31, max: 3_650, unit: "days", orZero: true });
/** Every environment variable of an installation. `npm run settings:table` writes the table in deploy/pages/settings.md from it. */
export const SETTINGS = {
  DATA_DIR: {
    type: folder,
    default: ".data",
    readBy: ["npm start", "ingress", "processors", "tracker"],
    meaning:
      "click journals and copies of the catalog; of `npm start` also the three servers and logs",
  },
  RUNTIME_DIR: {
    type: folder,
    unset: "`DATA_DIR/runtime`",
    readBy: ["npm start", "ingress"],
    meaning: "programs that are downloaded once; several DATA_DIRs may share it",
  },
  TRACKING_PORT: {
    type: port,
    default: "8080",
    readBy: ["npm start", "ingress", "processors", "api", "tracker"],
    meaning: "port of the tracking domain",
  },
  API_PORT: {
    type: port,
    default: "8081",
    readBy: ["npm start", "processors", "api", "tracker"],
    meaning: "port of REST and MCP",
  },
  BIND_ADDRESS: {
    type: ipAddress,
    default: "127.0.0.1",
    readBy: ["npm start", "ingress", "api", "tracker"],
    meaning: "address on which both ports listen",
  },
  TRACKING_URL: {
    type: origin,
    unset: "from BIND_ADDRESS and TRACKING_PORT",
    readBy: ["npm start", "api", "tracker"],
    meaning: "public address of the tracking domain, used in links",
  },
  API_URL: {
    type: origin,
    unset: "from BIND_ADDRESS and API_PORT",
    readBy: ["npm start", "api", "tracker"],
    meaning: "public address of the API, used in the OpenAPI document",
  },
  INGRESS_WORKERS: {
    type: wholeNumber({ min: 1, max: 64 }),
    unset: "number of cores",
    readBy: ["npm start", "ingress"],
    meaning: "ingress processes that share the tracking port",
  },
  DEMO_TRAFFIC: {
    type: onOff,
    default: "1",
    readBy: ["npm start"],
    meaning: "give a new demo workspace a month of sample traffic",
  },
  ...SERVER_SETTINGS,
  ...DURABILITY_SETTINGS,
  TRUSTED_PROXIES: {
    type: networks,
    default: "",
    readBy: ["ingress", "api"],
    meaning: "proxies whose X-Forwarded-For and X-Forwarded-Proto count",
  },
  IP_REQUESTS_PER_MINUTE: {
    type: perMinute,
    default: "0",
    readBy: ["ingress"],
    meaning: "requests a minute that one address may send to the tracking domain; 0 sets no limit",
  },
  IP_LOOKUPS_PER_MINUTE: {
    type: perMinute,
    default: "300",
    readBy: ["ingress"],
    meaning:
      "look-ups of clicks a minute without a result that one address may cause by pixels and landing pages; 0 sets no limit",
  },
  RATE_LIMIT_PER_MINUTE: {
    type: wholeNumber({ min: 1, max: 1_000_000 }),
    default: "600",
    readBy: ["api"],
    meaning: "API requests a minute of each key",
  },
  ...MCP_SETTINGS,
  CONSOLE_SECRET: {
    type: text("at least 32 characters", /^.{32,1000}$/s),
    unset: "made by `npm start` in DATA_DIR; elsewhere no second factors",
    readBy: ["api"],
    isSecret: true,
    meaning: "seals the second factors of people; another value makes them useless",
  },
  SECRETS_KEY: {
    type: {
      accepts:
        "one line for each key, of 32 bytes in base64, as `openssl rand -base64 32` writes it",
      parse: (given) => (isKeyRing(given) ? given : undefined),
    },
    unset: "made by `npm start` in DATA_DIR; elsewhere what needs it is answered 503",
    readBy: ["api", "tracker"],
    isSecret: true,
    isReread: true,
    meaning:
      "seals payment details and the files of imports: the first key seals, all of them open. Another one is added by `tracker secrets rotate`",
  },
  ...BACKUP_SETTINGS,
  OIDC_ISSUER: {
    type: oidcIssuer,
    unset: "people sign in with password or passkey",
    readBy: ["api"],
    meaning: "identity provider that signs people in to the console",
  },
  OIDC_CLIENT_ID: {
    type: text("what the provider has given", /^.{1,1000}$/),
    unset: "needed with OIDC_ISSUER",
    readBy: ["api"],
    meaning: "name of this installation at the provider",
  },
  OIDC_CLIENT_SECRET: {
    type: text("what the provider has given", /^.{1,4000}$/),
    unset: "a public client, with PKCE alone",
    readBy: ["api"],
    isSecret: true,
    meaning: "secret of this installation at the provider",
  },
  OIDC_NAME: {
    type: text("1 to 50 characters", /^.{1,50}$/),
    default: "single sign-on",
    readBy: ["api"],
    meaning: "name of the provider on the sign-in button",
  },
  SMTP_URL: {
    type: url(["smtps", "smtp"], "smtps://tracker:password@mail.example.com"),
    unset: "links are shown to whoever makes them, and nobody can ask for one",
    readBy: ["api"],
    isSecret: true,
    meaning:
      "server that mails invitations and links for a new password; with smtp:// it has to offer STARTTLS, except on this machine",
  },
  MAIL_FROM: {
    type: mailAddress,
    unset: "needed with SMTP_URL",
    readBy: ["api"],
    meaning: "sender of the mails",
  },
  GEO_CITY_DB: {
    type: existingFile,
    unset: "comes with the install",
    readBy: ["ingress"],
    meaning: "MMDB file that gives country, region and city of an address",
  },
  GEO_ASN_DB: {
    type: existingFile,
    unset: "comes with the install",
    readBy: ["ingress"],
    meaning: "MMDB file that gives the network operator of an address",
  },
  JOURNAL_SYNC: {
    type: oneOf(["interval", "always", "none"]),
    default: "interval",
    readBy: ["ingress"],
    meaning:
      "when an answered click is on the disk: within 20 ms (`interval`), before the answer (`always`), or when the system writes it (`none`)",
  },
  JOURNAL_RESERVE_BYTES: {
    type: wholeNumber({ min: 0, max: 1_000_000_000_000, unit: "bytes" }),
    unset: "5 % of the disk, at least 1 GiB, at most a quarter",
    readBy: ["ingress"],
    meaning:
      "room on the disk that the journal leaves free; when it is reached, clicks go to NATS directly",
  },
  OPS_BIND: {
    type: ipAddress,
    default: "127.0.0.1",
    readBy: ["npm start", "ingress", "processors", "api"],
    meaning:
      "address of the operations port of each process: `/metrics`, `/healthz`, `/readyz`, `/status`; never a public one",
  },
  OPS_PORT: {
    type: portOrAny,
    unset: "ingress 9411, processors 9431, api 9441; `npm start` picks free ones",
    readBy: ["ingress", "processors", "api"],
    meaning:
      "operations port; an ingress worker adds its number to it; 0 takes a free port, which is logged",
  },
  WORKERS_OPS_PORT: {
    type: portOrAny,
    default: "9410",
    readBy: ["ingress"],
    meaning:
      "operations port of the parent of the ingress workers: `/healthz`, and `/readyz` for all workers together; 0 takes a free port, which is logged",
  },
  ROLES: {
    type: someOf(ROLES),
    default: ROLES.join(","),
    readBy: ["processors"],
    meaning: "the roles of this process",
  },
  PROCESSOR_NAME: {
    type: text("1 to 100 characters", /^.{1,100}$/),
    unset: "host name and a random word; of `npm start` a name that stays",
    readBy: ["processors"],
    meaning:
      "a name that only one process has at a time: a process with the name of a dead one takes over its lanes at once, not after LANE_LEASE_MS",
  },
  LANE_LEASE_MS: {
    type: wholeNumber({ min: 1_000, max: 300_000, unit: "milliseconds" }),
    default: "30000",
    readBy: ["processors"],
    meaning:
      "how long a lane stays with a click writer that does not renew its lease; an insert must end within a third of it",
  },
  UNIQUE_VISITS_MAX: {
    type: wholeNumber({ min: 1_000, max: 200_000_000 }),
    default: "20000000",
    readBy: ["processors"],
    meaning:
      "visits that each lane remembers to recognise unique clicks, about 12 bytes each; beyond it the largest offers lose their oldest",
  },
  YOUNG_CLICKS_BYTES: {
    type: wholeNumber({ min: 1_048_576, max: 1_073_741_824, unit: "bytes" }),
    default: "50331648",
    readBy: ["processors"],
    meaning:
      "clicks that each lane keeps in memory after they are in ClickHouse, so that postbacks find them without a query: 48 MiB are 2 s at 25,000 clicks/s a lane, 1 GiB 43 s; at most the last 10 minutes",
  },
  PRODUCER_PATIENCE_HOURS: {
    type: wholeNumber({ min: 1, max: 48, unit: "hours" }),
    default: "48",
    readBy: ["processors"],
    meaning:
      "how long look-ups, and coupons whose click is missing, wait for a silent ingress, whose journal may hold clicks; `tracker producer give-up` ends it early",
  },
  ...DELIVERY_SETTINGS,
  FX_FEED_URL: {
    type: urlOrOff(["http", "https"], REFERENCE_RATES),
    default: REFERENCE_RATES,
    readBy: ["processors"],
    isSecret: true,
    meaning:
      "daily reference rates in the form of the European Central Bank, XML or CSV; `off`: rates come only by `POST /fx-rates` and `tracker fx-rates set`",
  },
  CLICK_RETENTION_DAYS: {
    type: retention,
    default: "0",
    readBy: ["processors", "api"],
    meaning:
      "how long a click keeps its visitor's address, browser and ad IDs, at least; they are deleted a whole month at a time, no report changes; 0 keeps them",
  },
  CONVERSION_RETENTION_DAYS: {
    type: retention,
    default: "0",
    readBy: ["processors"],
    meaning:
      "how long a conversion keeps its visitor's address, e-mail and phone hashes and ad IDs, which later e-mail attribution needs; no report changes; 0 keeps them",
  },
  LOG_LEVEL: {
    type: oneOf(LOG_LEVELS),
    default: "info",
    readBy: ["ingress", "processors", "api"],
    meaning: "the least severe messages that are logged",
  },
  DRAIN_SECONDS: {
    type: wholeNumber({ min: 0, max: 300, unit: "seconds" }),
    default: "10",
    readBy: ["ingress", "api"],
    meaning:
      "how long a process serves on after SIGTERM, unready and closing each connection with its answer, so that balancers leave it first; `npm start` sets 0",
  },
  DRAIN_STORED_SECONDS: {
    type: wholeNumber({ min: 0, max: 600, unit: "seconds" }),
    default: "25",
    readBy: ["ingress"],
    meaning:
      "how long a process that ends waits until the click writers have its journal, so that its disk is not needed any more; `npm start` sets 0",
  },
  ACCESS_LOG: {
    type: accessShare,
    default: "errors",
    readBy: ["ingress", "api"],
    meaning:
      "which answers have a line in the access log: none, those with status 400 and above, these and a share of the others, or all",
  },
  ACCESS_LOG_FILE: {
    type: text("the path of a file", /^[^\0]{1,4096}$/),
    unset: "standard output",
    readBy: ["ingress", "api"],
    meaning: "file to which the access log is appended; SIGUSR2 opens it again",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    type: url(["http", "https"], "http://127.0.0.1:4318"),
    unset: "no tracing",
    readBy: ["ingress", "processors", "api"],
    isSecret: true,
    meaning: "OpenTelemetry collector that gets traces by OTLP over HTTP, at `/v1/traces`",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: text("name=value pairs, comma-separated", /^[\w-]+=[^,\s]+(?:,[\w-]+=[^,\s]+)*$/),
    unset: "none",
    readBy: ["ingress", "processors", "api"],
    isSecret: true,
    meaning: "headers of each request to the collector, such as a token",
  },
  EXIT_WITH_PARENT: {
    type: onOff,
    default: "0",
    readBy: ["ingress", "processors", "api"],
    meaning: "1 ends the process when its standard input ends; `npm start` sets it",
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readApiSettings, readCommandSettings } from "../../api/settings.ts";
import { readLauncherSettings } from "../../deploy/local/settings.ts";
import { readIngressSettings } from "../../ingress/settings.ts";
import { readProcessorSettings } from "../../processors/settings.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { SettingsError } from "../../schemas/host/read-settings.ts";
import { SETTINGS, type SettingDefinition } from "../../schemas/host/setting-definitions.ts";
import { unknownSettings } from "../../schemas/host/unknown-settings.ts";
import { SECRETS_KEY } from "../samples/secret-keys.ts";

type Environment = Readonly<Record<string, string>>;

const READERS: Readonly<Record<string, (environment: Environment) => unknown>> = {
  "npm start": readLauncherSettings,
  ingress: readIngressSettings,
  processors: readProcessorSettings,
  api: readApiSettings,
  tracker: readCommandSettings,
};

const SERVERS = {
  POSTGRES_URL: "postgres://tracker:secret@127.0.0.1/tracker",
  NATS_URL: "nats://127.0.0.1",
  CLICKHOUSE_URL: "http://127.0.0.1:8123/tracker",
  SECRETS_KEY,
};

/** Processes that connect to Postgres and NATS. `npm start` passes the settings on. */
const CONNECTED = ["ingress", "processors", "api", "tracker"];
const EVERYBODY = ["npm start", "ingress", "processors", "api", "tracker"];
const URLS = ["npm start", "api", "tracker"];

/** Functions that group the settings of a server for several processes, and their files. */
const SHARED = [
  ["natsAccess", "schemas/nats/access.ts"],
  ["clickhouseServer", "schemas/clickhouse/server.ts"],
  ["streamSettings", "schemas/nats/stream-settings.ts"],
  ["outgoingReach", "schemas/outgoing/outgoing-settings.ts"],
] as const;

/** Whether each of the processes that read the variable accepts the value. */
const CASES: readonly (readonly [
  variable: string,
  value: string,
  outcome: "accepted" | "refused",
  readers: readonly string[],
])[] = [
  ["NATS_URL", "nats://a:4222,nats://b:4222", "accepted", EVERYBODY],
  ["NATS_URL", "tls://me:secret@a:4222, tls://me:secret@b", "accepted", EVERYBODY],
  ["NATS_URL", "nats://me:secret@a:4222,nats://b", "refused", EVERYBODY],
  ["NATS_URL", "nats://me:secret@a:4222,nats://me:other@b", "refused", EVERYBODY],
  ["NATS_URL", "nats://a:4222,tls://b", "refused", EVERYBODY],
  ["NATS_USER", "me", "refused", CONNECTED],
  ["NATS_PASSWORD", "secret", "refused", CONNECTED],
  ["NATS_CREDS_FILE", "package.json", "accepted", CONNECTED],
  ["NATS_CREDS_FILE", "/no/such/file", "refused", CONNECTED],
  ["NATS_NKEY_FILE", "package.json", "accepted", CONNECTED],
  ["NATS_CA_FILE", "package.json", "accepted", CONNECTED],
  ["NATS_CA_FILE", "schemas", "refused", CONNECTED],
  ["NATS_CERT_FILE", "package.json", "refused", CONNECTED],
  ["NATS_KEY_FILE", "package.json", "refused", CONNECTED],
  ["POSTGRES_PASSWORD", "secret", "refused", CONNECTED],
  ["POSTGRES_PASSWORD_FILE", "/no/such/file", "refused", CONNECTED],
  ["POSTGRES_URL_FILE", "package.json", "refused", EVERYBODY],
  ["CLICKHOUSE_CA_FILE", "package.json", "refused", ["processors", "api", "tracker"]],
  [
    "CLICKHOUSE_URL",
    "http://me:a@c:8123/t,http://me:a@d:8123/t",
    "refused",
    ["npm start", "processors", "api", "tracker"],
  ],
  ["CLICKHOUSE_LAYOUT", "both", "refused", ["npm start", "processors", "api", "tracker"]],
  ["CLICKHOUSE_LAYOUT", "cluster", "accepted", ["processors", "api", "tracker"]],
  ["CLICKHOUSE_LAYOUT", "cluster", "refused", ["npm start"]],
  ["OWN_PORTS", "20001, 20002", "accepted", ["processors", "api"]],
  ["OWN_PORTS", "20001;20002", "refused", ["processors", "api"]],
  ["OWN_PORTS", "70000", "refused", ["processors", "api"]],
  ["CLICKHOUSE_CLUSTER", "two words", "refused", ["processors", "api", "tracker"]],
  ["CLICKS_STREAM_HOURS", "0", "refused", ["npm start", "processors", "tracker"]],
  ["CLICKS_STREAM_BYTES", "64GiB", "refused", ["npm start", "processors", "tracker"]],
  ["NATS_URL", "nats://a:4222/", "accepted", EVERYBODY],
  ["NATS_URL", "127.0.0.1:4222", "refused", EVERYBODY],
  ["NATS_URL", "nats://a:99999", "refused", EVERYBODY],
  ["NATS_URL", "nats://a,http://b", "refused", EVERYBODY],
  ["NATS_URL", "rubbish", "refused", EVERYBODY],
  ["NATS_PREFIX", "staging.eu", "accepted", EVERYBODY],
  ["NATS_PREFIX", "two words", "refused", EVERYBODY],
  ["NATS_PREFIX", "all.>", "refused", EVERYBODY],
  ["TRUSTED_PROXIES", "10.0.0.0/8, ::1,192.0.2.7", "accepted", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "10.0.0.1-10.0.0.9", "accepted", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "2001:db8::1 - 2001:db8::9", "accepted", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "::ffff:10.0.0.0/104", "accepted", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "10.0.0.0/8,", "accepted", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "10.0.0.0/33", "refused", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "10.0.0.9-10.0.0.1", "refused", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "10.0.0.1-::1", "refused", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "loadbalancer", "refused", ["npm start", "ingress", "api"]],
  ["TRUSTED_PROXIES", "fe80::1%eth0", "refused", ["npm start", "ingress", "api"]],
  ["BIND_ADDRESS", "::", "accepted", ["npm start", "ingress", "api", "tracker"]],
  ["BIND_ADDRESS", "localhost", "refused", ["npm start", "ingress", "api", "tracker"]],
  ["TRACKING_PORT", "0", "refused", ["npm start", "ingress", "api", "tracker"]],
  ["TRACKING_URL", "https://track.example/", "accepted", URLS],
  ["TRACKING_URL", "https://track.example/path", "refused", URLS],
  ["API_URL", "https://api.example//", "refused", URLS],
  ["CLICK_RETENTION_DAYS", "31", "accepted", ["npm start", "processors", "api"]],
  ["CLICK_RETENTION_DAYS", "7", "refused", ["npm start", "processors", "api"]],
  ["POSTBACK_RETRY_SCHEDULE", "0,5s,2m", "accepted", ["npm start", "processors"]],
  ["POSTBACK_RETRY_SCHEDULE", "soon", "refused", ["npm start", "processors"]],
  ["FX_FEED_URL", "https://rates.example/daily.xml", "accepted", ["npm start", "processors"]],
  ["FX_FEED_URL", "rates.example", "refused", ["npm start", "processors"]],
  ["GEO_CITY_DB", "package.json", "accepted", ["npm start", "ingress"]],
  ["GEO_CITY_DB", "/no/such/file", "refused", ["npm start", "ingress"]],
  ["GEO_ASN_DB", "/no/such/file", "refused", ["npm start", "ingress"]],
  ["ROLES", "clicks,facts", "accepted", ["npm start", "processors"]],
  ["ROLES", "clicks,factories", "refused", ["npm start", "processors"]],
  ["LANE_LEASE_MS", "1", "refused", ["npm start", "processors"]],
  ["UNIQUE_VISITS_MAX", "1", "refused", ["npm start", "processors"]],
  ["YOUNG_CLICKS_BYTES", "48MiB", "refused", ["npm start", "processors"]],
  ["OPS_PORT", "0", "accepted", ["npm start", "ingress", "processors", "api"]],
  ["OPS_PORT", "70000", "refused", ["npm start", "ingress", "processors", "api"]],
  ["OPS_BIND", "0.0.0.0", "accepted", ["npm start", "ingress", "processors", "api"]],
  ["OPS_BIND", "localhost", "refused", ["npm start", "ingress", "processors", "api"]],
  ["EXIT_WITH_PARENT", "yes", "refused", ["npm start", "ingress", "processors", "api"]],
  ["NATS_REPLICAS", "9", "refused", ["npm start", "processors", "tracker"]],
  ["LOG_LEVEL", "loud", "refused", ["npm start", "ingress", "processors", "api"]],
];

test.each(CASES)("every process that reads %s: %s is %s", (variable, value, outcome, readers) => {
  const outcomes = readers.map((reader) => [reader, outcomeOf(reader, { [variable]: value })]);
  expect(outcomes).toEqual(readers.map((reader) => [reader, outcome]));
});

test.each([
  ["CONSOLE", "off", "on", ["npm start", "api"]],
  ["CONSOLE_PLAIN_HTTP", "1", "0", ["npm start", "api"]],
  ["SIGNUP_PER_HOUR", "100", "10", ["npm start", "api"]],
  ["CLICKS_STREAM_COMPRESSION", "none", "s2", ["npm start", "processors", "tracker"]],
  ["CLICK_LIST_ROWS_MAX", "200000", "20000", ["npm start", "processors"]],
  ["HOLD_TICK_MS", "200", "1000", ["npm start", "processors"]],
  ["FACTS_AUDIT_MINUTES", "5", "60", ["npm start", "processors"]],
  ["INGRESS_WORKER", "1", "0", ["npm start", "ingress"]],
] as const)("%s is no setting any more: %s is refused with what to do, not ignored", (...row) => {
  const [name, wanted, always, readers] = row;
  const refusal = new RegExp(`^${name}: no setting any more, remove it\\. .+\\.$`, "m");
  const refusing = Object.keys(READERS).filter((reader) =>
    refusal.test(messageOf(reader, { [name]: wanted })),
  );
  expect(refusing).toEqual(readers);
  const others = Object.keys(READERS).filter((reader) => !refusing.includes(reader));
  for (const reader of others) expect(messageOf(reader, { [name]: wanted })).toBe("");
  for (const reader of readers) expect(messageOf(reader, { [name]: always })).toBe("");
  expect(unknownSettings({ [name]: wanted })).toEqual([]);
});

test("every process is strict about what a crash can lose, and only `npm start` is not (P35, G257)", () => {
  expect(readLauncherSettings(SERVERS).isStrict).toBe(false);
  expect(readLauncherSettings({ ...SERVERS, DURABILITY: "strict" }).isStrict).toBe(true);
  for (const read of [
    readIngressSettings,
    readProcessorSettings,
    readApiSettings,
    readCommandSettings,
  ]) {
    expect(read(SERVERS).durability.level).toBe("strict");
    expect(read({ ...SERVERS, DURABILITY: "relaxed" }).durability.level).toBe("relaxed");
  }
});

test("every process reports a wrong value in the same words", () => {
  const wrong = { NATS_URL: "nats://me:hush@a:99999", LOG_LEVEL: "loud" };
  const lines = Object.keys(READERS).map((reader) => messageOf(reader, wrong).split("\n").slice(1));
  const [natsUrl, logLevel] = lines[0] ?? [];
  expect(natsUrl).toMatch(/^NATS_URL: expected .*nats:\/\//);
  expect(natsUrl).not.toContain("hush");
  expect(logLevel).toMatch(/^LOG_LEVEL: expected one of trace, .*, got "loud"$/);
  for (const [reader, index] of Object.keys(READERS).map((name, at) => [name, at] as const)) {
    const expected = reader === "tracker" ? [natsUrl] : [natsUrl, logLevel];
    expect(lines[index], reader).toEqual(expected);
  }
});

test.each([
  ["ingress/settings.ts and deploy/workers/settings.ts", ["ingress"]],
  ["processors/settings.ts", ["processors"]],
  ["api/settings.ts and deploy/backup/settings.ts", ["api", "tracker"]],
  ["deploy/local/settings.ts", ["npm start"]],
] as const)(
  "%s uses every setting that the documentation says it reads, and no other",
  (files, processes) => {
    const text = files
      .split(" and ")
      .map((file) => readFileSync(projectFile(file), "utf8"))
      .join("\n");
    const others = SHARED.filter(([call]) => text.includes(`${call}(read)`)).map(([, path]) =>
      readFileSync(projectFile(path), "utf8"),
    );
    const used = [text, ...others].join("\n").matchAll(/\bread\.([A-Z_]+)/g);
    const documented = Object.entries<SettingDefinition>(SETTINGS).filter(([, { readBy }]) =>
      processes.some((process) => readBy.includes(process)),
    );
    expect(new Set([...used].map(([, name]) => name))).toEqual(
      new Set(documented.map(([name]) => name)),
    );
  },
);

function outcomeOf(reader: string, given: Environment): "accepted" | "refused" {
  return messageOf(reader, given) === "" ? "accepted" : "refused";
}

/** The reader's error message, or "" if it accepts the settings. */
function messageOf(reader: string, given: Environment): string {
  try {
    READERS[reader]?.({ ...SERVERS, ...given });
    return "";
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
}

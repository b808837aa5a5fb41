import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECRETS_KEY } from "../test/samples/secret-keys.ts";
import { readApiSettings, readCommandSettings } from "./settings.ts";

/** A matcher as a value of no particular type. */
const someFunction: unknown = expect.any(Function);

const SERVERS = {
  SECRETS_KEY,
  POSTGRES_URL: "postgres://tracker@127.0.0.1/tracker",
  NATS_URL: "nats://127.0.0.1",
  CLICKHOUSE_URL: "http://127.0.0.1:8123/tracker",
};

test("three servers are enough; everything else serves a single machine", () => {
  expect(readApiSettings(SERVERS)).toEqual({
    bindAddress: "127.0.0.1",
    port: 8081,
    ops: { bind: "127.0.0.1", port: 9441 },
    apiUrl: "http://127.0.0.1:8081",
    trackingUrl: "http://127.0.0.1:8080",
    postgres: { url: SERVERS.POSTGRES_URL },
    nats: { url: SERVERS.NATS_URL, access: {}, prefix: "", groups: 1 },
    clickhouse: { url: SERVERS.CLICKHOUSE_URL },
    clickhouseReader: { url: SERVERS.CLICKHOUSE_URL },
    trustedProxies: [],
    rateLimitPerMinute: 600,
    mcpOrigins: [],
    outgoing: {
      allowLoopback: false,
      own: {
        servers: [5432, 4222, 8123].map((port) => ({ host: "127.0.0.1", port })),
        ports: [5432, 4222, 8123],
        publicPorts: [8080, 8081],
      },
    },
    clickRetentionDays: 0,
    durability: { level: "strict", natsMonitorUrls: [], singleSite: false, standbys: 1 },
    secretKeys: someFunction,
    console: { secret: undefined },
    access: { share: 0, file: undefined },
    tracing: { endpoint: undefined, headers: undefined },
    logLevel: "info",
    endWithParent: false,
    serveOnMs: 10_000,
  });
});

test("without the keys of payment details the api starts; a faulty ring says how to make a key (N9)", () => {
  expect(readApiSettings({ ...SERVERS, SECRETS_KEY: "" }).secretKeys()).toBeUndefined();
  const faulty = { ...SERVERS, SECRETS_KEY: "short" };
  for (const readSettings of [readApiSettings, readCommandSettings])
    expect(() => readSettings(faulty)).toThrow(/SECRETS_KEY: .*openssl rand -base64 32/);
});

test("public addresses are those given, else those of the listeners", () => {
  const given = {
    ...SERVERS,
    BIND_ADDRESS: "0.0.0.0",
    API_PORT: "9001",
    TRACKING_URL: "https://t.example/",
  };
  expect(readApiSettings(given)).toMatchObject({
    apiUrl: "http://127.0.0.1:9001",
    trackingUrl: "https://t.example",
  });
});

test("every wrong variable is reported at once", () => {
  const wrong = {
    API_PORT: "x",
    TRUSTED_PROXIES: "10.0.0.0/40",
    RATE_LIMIT_PER_MINUTE: "0",
    POSTGRES_URL: "mysql://x",
  };
  expect(() => readApiSettings(wrong)).toThrow(
    /API_PORT[\s\S]*POSTGRES_URL[\s\S]*NATS_URL[\s\S]*CLICKHOUSE_URL[\s\S]*TRUSTED_PROXIES[\s\S]*RATE_LIMIT_PER_MINUTE/,
  );
});

test("commands use the addresses of the run in DATA_DIR, unless the environment names others", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-running-"));
  const running = { tracking_url: "http://127.0.0.1:21080", api_url: "http://127.0.0.1:21081" };
  writeFileSync(join(folder, "servers.json"), JSON.stringify(running));
  const at = { trackingUrl: "http://127.0.0.1:21080", apiUrl: "http://127.0.0.1:21081" };
  const inFolder = { DATA_DIR: folder };
  expect(readCommandSettings(inFolder)).toMatchObject(at);
  expect(readCommandSettings({ ...inFolder, TRACKING_PORT: "9000" })).toMatchObject({
    ...at,
    trackingUrl: "http://127.0.0.1:9000",
  });
  expect(readCommandSettings({ ...inFolder, API_URL: "https://api.example" })).toMatchObject({
    ...at,
    apiUrl: "https://api.example",
  });
  expect(readCommandSettings({ ...inFolder, POSTGRES_URL: SERVERS.POSTGRES_URL })).toMatchObject({
    trackingUrl: "http://127.0.0.1:8080",
    apiUrl: "http://127.0.0.1:8081",
  });
  rmSync(folder, { recursive: true });
});

test("commands judge the run in DATA_DIR as strictly as `npm start` runs it, other servers strictly (G257)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-running-"));
  const levelOf = (given: Readonly<Record<string, string>> = {}): string =>
    readCommandSettings({ DATA_DIR: folder, ...given }).durability.level;
  expect(levelOf()).toBe("strict");
  const running = { postgres_url: SERVERS.POSTGRES_URL };
  for (const durability of ["relaxed", "strict"]) {
    writeFileSync(join(folder, "servers.json"), JSON.stringify({ ...running, durability }));
    expect(levelOf()).toBe(durability);
  }
  // An older release has written it.
  writeFileSync(join(folder, "servers.json"), JSON.stringify(running));
  expect(levelOf()).toBe("relaxed");
  expect(levelOf({ DURABILITY: "strict" })).toBe("strict");
  expect(levelOf({ POSTGRES_URL: SERVERS.POSTGRES_URL })).toBe("strict");
  const oneHost = { strict_single_site: true, strict_standbys: 0, nats_sys_url: "nats://s:p@h:1" };
  const file = { ...running, durability: "strict", ...oneHost };
  writeFileSync(join(folder, "servers.json"), JSON.stringify(file));
  const rulesOf = (given: Readonly<Record<string, string>> = {}): unknown =>
    readCommandSettings({ DATA_DIR: folder, ...given }).durability;
  const asRun = { singleSite: true, standbys: 0, natsSystemUrl: "nats://s:p@h:1" };
  expect(rulesOf()).toMatchObject(asRun);
  expect(rulesOf({ STRICT_STANDBYS: "1" })).toMatchObject({ ...asRun, standbys: 1 });
  expect(rulesOf({ POSTGRES_URL: SERVERS.POSTGRES_URL })).toMatchObject({
    singleSite: false,
    standbys: 1,
    natsSystemUrl: undefined,
  });
  rmSync(folder, { recursive: true });
});

test("a command needs no variable at all to begin", () => {
  expect(readCommandSettings({})).toMatchObject({
    dataDir: ".data",
    servers: { postgres: undefined },
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { readLauncherSettings, renderSettings } from "./settings.ts";

test("with nothing set, everything has a value that serves one machine", () => {
  const settings = readLauncherSettings({ INGRESS_WORKERS: "2" });
  expect(settings).toMatchObject({
    trackingPort: 8080,
    apiPort: 8081,
    bindAddress: "127.0.0.1",
    trackingUrl: "http://127.0.0.1:8080",
    apiUrl: "http://127.0.0.1:8081",
    ingressWorkers: 2,
    servers: {},
  });
  expect(settings.dataDir.endsWith("/.data")).toBe(true);
  expect(settings.runtimeDir).toBe(`${settings.dataDir}/runtime`);
});

test("an empty variable counts as unset", () => {
  expect(readLauncherSettings({ TRACKING_PORT: "", NATS_URL: "" })).toMatchObject({
    trackingPort: 8080,
    servers: {},
  });
});

test("every wrong variable is named in one go", () => {
  const wrong = {
    TRACKING_PORT: "eighty",
    API_PORT: "70000",
    BIND_ADDRESS: "localhost",
    TRACKING_URL: "https://track.example.com/path",
    API_URL: "ftp://api.example.com",
    INGRESS_WORKERS: "0",
    NATS_URL: "127.0.0.1:4222",
    POSTGRES_URL: "mysql://db",
    CLICKHOUSE_URL: "clickhouse:9000",
    TRUSTED_PROXIES: "10.0.0.0/8, 10.0.0.0/33",
    ALLOW_PRIVATE_DESTINATIONS: "yes",
    RATE_LIMIT_PER_MINUTE: "-1",
    POSTBACK_RETRY_SCHEDULE: "5s,soon",
    WEBHOOK_RETRY_SCHEDULE: "1w",
    GEO_CITY_DB: "/no/such/file",
    GEO_ASN_DB: "/no/such/file",
    LOG_LEVEL: "loud",
  };
  const fault = faultOf(wrong);
  for (const name of Object.keys(wrong)) expect(fault).toMatch(new RegExp(`^${name}: `, "m"));
  expect(fault.split("\n")).toHaveLength(Object.keys(wrong).length);
});

test("one port for both listeners is refused with both names", () => {
  expect(faultOf({ TRACKING_PORT: "9000", API_PORT: "9000" })).toMatch(
    /TRACKING_PORT and API_PORT: both are 9000/,
  );
});

describe("addresses for links", () => {
  test.each([
    ["127.0.0.1", "http://127.0.0.1:80"],
    ["0.0.0.0", "http://127.0.0.1:80"],
    ["::", "http://[::1]:80"],
    ["2001:db8::1", "http://[2001:db8::1]:80"],
  ])("%s is written %s", (address, origin) => {
    expect(listenerOrigin(address, 80)).toBe(origin);
  });

  test("a public address loses the slash at its end", () => {
    expect(readLauncherSettings({ TRACKING_URL: "https://track.example.com/" }).trackingUrl).toBe(
      "https://track.example.com",
    );
  });
});

test.each(["nats://a:4222", "nats://a:4222,nats://b:4222", "tls://a:4222"])(
  "%s is a NATS address",
  (url) => {
    expect(readLauncherSettings({ NATS_URL: url }).servers.natsUrl).toBe(url);
  },
);

test.each(["0,5s,30s,2m,10m,1h,1d", "500ms", "0"])("%s is a retry schedule", (schedule) => {
  expect(() => readLauncherSettings({ POSTBACK_RETRY_SCHEDULE: schedule })).not.toThrow();
});

test("the table of all settings changes only on purpose", () => {
  expect(renderSettings()).toMatchInlineSnapshot(`
    "| variable | type | when unset | meaning |
    |---|---|---|---|
    | DATA_DIR | folder | .data | what the one-machine run keeps: Postgres, JetStream, ClickHouse, click journals, logs |
    | RUNTIME_DIR | folder | DATA_DIR/runtime | programs that are downloaded once; may be shared by several DATA_DIRs |
    | TRACKING_PORT | port | 8080 | listener of the tracking domain |
    | API_PORT | port | 8081 | listener of REST and MCP |
    | BIND_ADDRESS | IP address | 127.0.0.1 | address of both listeners |
    | TRACKING_URL | http(s) origin | from address and port | public address of the tracking domain, used in links |
    | API_URL | http(s) origin | from address and port | public address of the API, used in the OpenAPI document |
    | INGRESS_WORKERS | 1 to 64 | number of cores | ingress processes that share the port |
    | NATS_URL | nats:// or tls://, comma-separated | started by \`npm start\` | an existing NATS server or cluster with JetStream |
    | POSTGRES_URL | postgres:// | started by \`npm start\` | an existing Postgres database |
    | CLICKHOUSE_URL | http(s)://user:password@host:port/database | started by \`npm start\` | an existing ClickHouse server or cluster |
    | TRUSTED_PROXIES | addresses and CIDRs, comma-separated | empty | whose X-Forwarded-For counts |
    | IP_LOOKUPS_PER_MINUTE | 0 to 1000000 | 300 | look-ups of clicks a minute that find nothing, which one address may cause by pixels and landing pages; 0 limits nobody |
    | IP_REQUESTS_PER_MINUTE | 0 to 1000000 | 0 | requests a minute that one address may send to the tracking domain; 0 limits nobody |
    | JOURNAL_RESERVE_BYTES | 0 to 1000000000000 | 5 % of the disk, at least 1 GiB, at most a quarter | bytes of the journal's disk that are left to others; beyond them clicks go to NATS directly |
    | PRODUCER_PATIENCE_HOURS | 1 to 48 | 48 | how long look-ups of clicks wait for an ingress that is silent; the command producer give-up ends it |
    | JOURNAL_SYNC | interval, always, none | interval | when an answered click is on the disk: within 20 ms, before the answer, or when the system likes |
    | FACTS_ON_TRACKING_PORT | 0 or 1 | 0 | 1 shows metrics and the facts of /health on the tracking port to this machine; not with a proxy on it, which could pass them on |
    | ALLOW_PRIVATE_DESTINATIONS | 0 or 1 | 0 | 1 lets webhooks and postbacks reach loopback addresses, for trying it out |
    | RATE_LIMIT_PER_MINUTE | 1 to 1000000 | 600 | API requests a minute and key |
    | POSTBACK_RETRY_SCHEDULE | durations (5s, 2m, 1h), comma-separated | 12 attempts over about 3 days | waits between the attempts to deliver a partner postback |
    | WEBHOOK_RETRY_SCHEDULE | durations (5s, 2m, 1h), comma-separated | as POSTBACK_RETRY_SCHEDULE's default | waits between the attempts to deliver a webhook |
    | FX_FEED_URL | http(s) URL | no feed: rates come by \`POST /fx-rates\` | daily reference rates in the form of the European Central Bank, such as https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml |
    | CLICK_RETENTION_DAYS | 0, or 31 to 3650 | 0 | days for which a click keeps its visitor's address, browser and ad-platform ids; they go with the whole month, no report changes; 0 keeps them |
    | FACTS_AUDIT_MINUTES | 1 to 1440 | 60 | minutes between two comparisons of the last days' conversions and ad costs in ClickHouse with Postgres |
    | CONVERSION_RETENTION_DAYS | 0, or 31 to 3650 | 0 | days for which a conversion keeps its visitor's address, e-mail and phone hashes and ad-platform ids; no report changes; 0 keeps them |
    | GEO_CITY_DB | MMDB file | comes with the install | country, region and city of an address |
    | GEO_ASN_DB | MMDB file | comes with the install | network operator of an address |
    | LOG_LEVEL | trace, debug, info, warn, error, fatal, silent | info | how much the processes log |"
  `);
});

test("the README shows the table as it is", () => {
  expect(readFileSync(projectFile("deploy", "README.md"), "utf8")).toContain(renderSettings());
});

function faultOf(environment: Record<string, string>): string {
  try {
    readLauncherSettings(environment);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "none";
}

import { describe, expect, test } from "vitest";
import { listenerOrigin } from "../../schemas/net/listener-origin.ts";
import { readLauncherSettings } from "./settings.ts";

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
  expect(fault.split("\n")).toHaveLength(1 + Object.keys(wrong).length);
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

function faultOf(environment: Record<string, string>): string {
  try {
    readLauncherSettings(environment);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "none";
}

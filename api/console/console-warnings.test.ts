import { expect, test } from "vitest";
import { readApiSettings } from "../settings.ts";
import { consoleWarnings } from "./console-warnings.ts";

const SERVERS = {
  POSTGRES_URL: "postgres://tracker@127.0.0.1/tracker",
  NATS_URL: "nats://127.0.0.1",
  CLICKHOUSE_URL: "http://127.0.0.1:8123/tracker",
};
const SECRET = "s".repeat(32);

function warningsOf(given: Readonly<Record<string, string>>): string[] {
  return consoleWarnings(readApiSettings({ ...SERVERS, ...given })).map(({ name }) => name);
}

test("an api that serves the console without CONSOLE_SECRET says so at its start (G258)", () => {
  expect(warningsOf({})).toEqual(["console.no-second-factors"]);
  expect(warningsOf({ CONSOLE_SECRET: SECRET })).toEqual([]);
});

test("a console on the host of the tracking domain is named", () => {
  const host = "https://one.example";
  const given = { CONSOLE_SECRET: SECRET, API_URL: host, TRACKING_URL: host };
  expect(warningsOf(given)).toEqual(["console.shares-its-host-with-tracking"]);
});

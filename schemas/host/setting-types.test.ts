import { expect, test } from "vitest";
import { words } from "../../test/samples/words.ts";
import { durations, natsUrls, networks, origin, origins, wholeNumber } from "./setting-types.ts";

const waits = durations({ max: 4 });

test.each([
  ["5s,2m,1h,1d", [5_000, 120_000, 3_600_000, 86_400_000]],
  ["250ms, 7", [250, 7_000]],
  ["0,5s", [5_000]],
  ["0", []],
  ["5s,0s", [5_000, 0]],
])("waits %s are %j ms", (text, waitsMs) => {
  expect(waits.parse(text)).toEqual(waitsMs);
});

test.each(["soon", "5s,", "-5s", "1.5s", "1s,1s,1s,1s,1s", "5 s", "9999999999s"])(
  "%j is no list of waits",
  (text) => {
    expect(waits.parse(text)).toBeUndefined();
  },
);

test.each([
  ["nats://a:4222", "nats://a:4222"],
  ["nats://me:p%40ss@a, tls://b:4222/,", "nats://me:p%40ss@a,tls://b:4222/"],
  ["nats://[::1]:4222", "nats://[::1]:4222"],
])("%s names NATS servers (issue 14, 2)", (text, urls) => {
  expect(natsUrls.parse(text)).toBe(urls);
});

test.each([",", "a:4222", "nats://", "nats://a b", "nats://a/path", "nats://a:99999", "http://a"])(
  "%j names no NATS server (issue 14, 2)",
  (text) => {
    expect(natsUrls.parse(text)).toBeUndefined();
  },
);

test.each([
  ["", []],
  ["10.0.0.0/8, ::1 ,192.0.2.7", ["10.0.0.0/8", "::1", "192.0.2.7"]],
  ["10.0.0.1 - 10.0.0.9", ["10.0.0.1 - 10.0.0.9"]],
  ["::ffff:10.0.0.0/104,::ffff:10.0.0.1", ["::ffff:10.0.0.0/104", "::ffff:10.0.0.1"]],
  ["::ffff:10.0.0.1-::ffff:10.0.0.9", ["::ffff:10.0.0.1-::ffff:10.0.0.9"]],
])("the networks %s are %j (issue 14, 2)", (text, items) => {
  expect(networks.parse(text)).toEqual(items);
});

test.each(
  words(`
  loadbalancer 10.0.0.0/33 ::/129 10.0.0 10.0.0.0/8/8 fe80::1%eth0 ::ffff:10.0.0.0/90
  10.0.0.9-10.0.0.1 10.0.0.1-::1 10.0.0.1- 10.0.0.0/8-10.1.0.0
`),
)("%j is no network (issue 14, 2)", (text) => {
  expect(networks.parse(text)).toBeUndefined();
});

test.each([
  ["", []],
  [
    "https://chat.example.com/, HTTP://Local.example:80",
    ["https://chat.example.com", "http://local.example"],
  ],
  [
    "vscode-webview://name, http://10.0.0.1:3000",
    ["vscode-webview://name", "http://10.0.0.1:3000"],
  ],
])("the origins %s are %j, as browsers write them (G214)", (text, items) => {
  expect(origins.parse(text)).toEqual(items);
});

test.each([
  "*",
  "null",
  "chat.example.com",
  "https://",
  "https://a/b",
  "https://me@a",
  "https://a?b",
])("%j is no origin (G214)", (text) => {
  expect(origins.parse(text)).toBeUndefined();
});

test("a public address loses the slash at its end, and has neither path nor password", () => {
  expect(origin.parse("https://track.example.com/")).toBe("https://track.example.com");
  for (const given of ["https://a/b", "https://a//", "https://a?b", "https://me@a", "https://:x@a"])
    expect(origin.parse(given), given).toBeUndefined();
});

test.each([
  ["0", 0],
  ["31", 31],
  ["90", 90],
  ["30", undefined],
  ["91", undefined],
  ["", undefined],
  ["0x1f", undefined],
  ["31.0", undefined],
])("%j of 0, or 31 to 90 days is %j", (text, value) => {
  expect(wholeNumber({ min: 31, max: 90, unit: "days", orZero: true }).parse(text)).toBe(value);
});

import { expect, test } from "vitest";
import { natsServers } from "./connect.ts";

test.each([
  ["nats://127.0.0.1:4222", { servers: ["nats://127.0.0.1:4222"] }],
  ["nats://a:4222, tls://b", { servers: ["nats://a:4222", "tls://b"] }],
  ["nats://me:p%40ss@[::1]:4222", { servers: ["nats://[::1]:4222"], user: "me", pass: "p@ss" }],
  ["nats://me:x@a:1,nats://b:2", { servers: ["nats://a:1", "nats://b:2"], user: "me", pass: "x" }],
])("%s is split into addresses and the user (#18)", (url, expected) => {
  expect(natsServers(url)).toEqual(expected);
});

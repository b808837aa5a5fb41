import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { isOwnPort, ownAddressesAt, ownServers } from "./own-servers.ts";

const own = ownServers(
  [
    "postgres://tracker:secret@db.example/tracker",
    "nats://a:4333, nats://[2001:db9::1]:4333",
    "http://198.41.0.4:8555/tracker",
    undefined,
  ],
  { ports: [20_001], publicPorts: [18_080] },
);

test.each([
  [5_432, "Postgres, without a port in its URL"],
  [4_333, "NATS"],
  [8_555, "ClickHouse"],
  [20_001, "an operations port that was named"],
  [18_080, "the tracking domain"],
  [9_411, "the operations port of the first ingress worker"],
  [9_441, "the operations port of the api"],
  [8_222, "the monitor of NATS"],
])("%d may be a port of this installation: %s (G127)", (port) => {
  expect(isOwnPort(own, port)).toBe(true);
});

test.each([80, 443, 8_080, 9_410, 20_002])("%d is a port of others (G127)", (port) => {
  expect(isOwnPort(own, port)).toBe(false);
});

test("a server of ours is refused at its own address and on this machine, not elsewhere (G127)", async () => {
  const isOwn = await ownAddressesAt(own, 8_555);
  for (const address of ["198.41.0.4", "::ffff:198.41.0.4", "127.0.0.1", "127.9.9.9", "::1"])
    expect(isOwn(address), address).toBe(true);
  for (const all of Object.values(networkInterfaces()))
    for (const { address } of all ?? []) expect(isOwn(address), address).toBe(true);
  expect(isOwn("198.41.0.5")).toBe(false);
  const isNats = await ownAddressesAt({ ...own, servers: own.servers.slice(2, 3) }, 4_333);
  expect([isNats("2001:db9:0::1"), isNats("2001:db9::2")]).toEqual([true, false]);
});

test("the tracking domain is refused on loopback only: a partner may be on this installation (G127)", async () => {
  const isOwn = await ownAddressesAt(own, 18_080);
  expect([isOwn("127.0.0.1"), isOwn("198.41.0.4")]).toEqual([true, false]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forwardedClient, parseTrustedProxies } from "./forwarded-for.ts";

const trusted = parseTrustedProxies(["10.0.0.0/8", "2001:db8:cafe::/48", "192.0.2.7"]);

const from = (peerIp: string, chain: string): string => forwardedClient(peerIp, chain, trusted).ip;

const outsider = fc.oneof(
  fc.ipV4().filter((ip) => !ip.startsWith("10.") && ip !== "192.0.2.7"),
  fc.constantFrom("2001:db8:1::9", "2a00::1"),
);
const proxy = fc.constantFrom("10.1.2.3", "::ffff:10.9.9.9", "2001:db8:cafe::5", "192.0.2.7");
const junk = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom("unknown", "_hidden", "999.1.1.1", ""),
);

describe("X-Forwarded-For (P33)", () => {
  test("whatever stands left of the last untrusted hop changes nothing", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(outsider, proxy, junk), { maxLength: 6 }),
        outsider,
        fc.array(proxy, { maxLength: 4 }),
        proxy,
        (forged, client, hops, peer) => {
          const chain = [...forged, client, ...hops].join(", ");
          expect(from(peer, chain)).toBe(from(peer, [client, ...hops].join(",")));
          expect(from(peer, chain)).toBe(from(client, ""));
        },
      ),
    );
  });

  test("an untrusted peer is itself, whatever it says", () => {
    fc.assert(
      fc.property(outsider, fc.string(), (peer, chain) => {
        expect(from(peer, chain)).toBe(from(peer, ""));
      }),
    );
  });

  test("nobody is trusted by default", () => {
    const nobody = parseTrustedProxies([]);
    expect(forwardedClient("127.0.0.1", "8.8.8.8", nobody).ip).toBe("127.0.0.1");
  });
});

test.each([
  ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
  ["10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
  ["10.0.0.1", "[2001:DB8:0:0::1]:443", "2001:db8::1"],
  ["::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
  ["0000:0000:0000:0000:0000:ffff:0a00:0001", "203.0.113.9", "203.0.113.9"],
  ["10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"],
  ["10.0.0.1", "203.0.113.9, ,10.0.0.2", "10.0.0.2"],
  ["10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"],
  ["10.0.0.1", ",", "10.0.0.1"],
  ["203.0.113.9", "", "203.0.113.9"],
  ["::ffff:203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["10.0.0.1", "", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
  ["::ffff:10.0.0.1", "198.51.100.1, 10.9.9.9", "198.51.100.1"],
  ["10.0.0.1", "1.1.1.1, nonsense, 10.0.0.2", "10.0.0.2"],
  ["2001:db8:cafe::1", "2001:db8::7", "2001:db8::7"],
  ["10.0.0.1", "1.1.1.1, 0x0a.1.2.3", "10.0.0.1"],
])("peer %s with X-Forwarded-For %s is the client %s", (peer, chain, client) => {
  expect(from(peer, chain)).toBe(client);
});

test("a chain longer than any honest one is answered in bounded steps", () => {
  expect(from("10.0.0.1", "10.0.0.2,".repeat(3_000))).toBe("10.0.0.1");
});

test("a list with a word that is no address is refused by name", () => {
  expect(() => parseTrustedProxies(["10.0.0.0/8", "loadbalancer", "10.0.0.0/33"])).toThrow(
    "neither an address nor a CIDR: loadbalancer, 10.0.0.0/33",
  );
});

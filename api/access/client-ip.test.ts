import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressList, isAddressOrRange } from "./address-list.ts";
import { addressBucket, clientIp } from "./client-ip.ts";

const PROXIES = new AddressList(["10.0.0.0/8", "::1"]);

test.each([
  ["203.0.113.9", undefined, "203.0.113.9"],
  ["::ffff:203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ["10.0.0.1", undefined, "10.0.0.1"],
  ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
  ["::ffff:10.0.0.1", "198.51.100.1, 10.9.9.9", "198.51.100.1"],
  ["10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
  ["10.0.0.1", "1.1.1.1, nonsense", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, nonsense, 10.0.0.2", "10.0.0.2"],
  ["::1", "2001:db8::7", "2001:db8::7"],
  ["10.0.0.1", "10.0.0.2", "10.0.0.2"],
] as const)("from %s with %j it is %s (G07)", (socket, forwardedFor, expected) => {
  expect(clientIp(socket, forwardedFor, PROXIES)).toBe(expected);
});

test("nothing that a caller writes changes what the trusted suffix says (P33)", () => {
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 12 }));
  fc.assert(
    fc.property(fc.array(hop, { maxLength: 6 }), fc.ipV4(), (forged, caller) => {
      fc.pre(!PROXIES.contains(caller));
      const chain = [...forged, caller, "10.1.1.1"].join(",");
      expect(clientIp("10.0.0.1", chain, PROXIES)).toBe(caller);
      // A caller that reaches the service itself is never believed.
      expect(clientIp(caller, chain, PROXIES)).toBe(caller);
    }),
  );
});

describe("lists", () => {
  test.each([
    ["203.0.113.5", true],
    ["203.0.113.0/24", true],
    ["2001:db8::/32", true],
    ["::ffff:10.0.0.1", true],
    ["203.0.113.0/33", false],
    ["::ffff:10.0.0.1/120", false],
    ["203.0.113", false],
    ["example.com", false],
    ["", false],
  ] as const)("%j is an address or a range: %s", (text, expected) => {
    expect(isAddressOrRange(text)).toBe(expected);
  });

  test("IPv4 in its IPv6 form counts as IPv4", () => {
    const list = new AddressList(["203.0.113.0/24", "::ffff:10.0.0.1"]);
    expect(list.contains("::ffff:203.0.113.77")).toBe(true);
    expect(list.contains("10.0.0.1")).toBe(true);
    expect(list.contains("203.0.114.1")).toBe(false);
    expect(list.contains("nonsense")).toBe(false);
  });

  test("a range holds both of its ends (issue 14, 2)", () => {
    const list = new AddressList(["10.0.0.1-10.0.0.9", "2001:db8::1-2001:db8::9"]);
    for (const inside of ["10.0.0.1", "10.0.0.9", "2001:db8::5"])
      expect(list.contains(inside), inside).toBe(true);
    for (const outside of ["10.0.0.0", "10.0.0.10", "2001:db8::a"])
      expect(list.contains(outside), outside).toBe(false);
  });
});

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
] as const)("%s shares the budget of %s", (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket);
});

import { expect, test } from "vitest";
import { ipRangesOf, isAddressOrCidr, parseIpRanges } from "./ip-ranges.ts";

test("ranges hold exactly the addresses of their CIDRs, of both families", () => {
  const ranges = parseIpRanges([
    "203.0.113.0/25",
    "2001:db8::/33",
    "198.51.100.4",
    "10.0.0.5 - 10.0.0.9",
  ]);
  const inside = ["203.0.113.0", "203.0.113.127", "2001:db8:7fff::1", "198.51.100.4", "10.0.0.7"];
  const outside = [
    "203.0.113.128",
    "203.0.112.255",
    "2001:db8:8000::",
    "198.51.100.5",
    "10.0.0.10",
    "",
  ];
  expect(inside.filter((ip) => !ranges.contains(ip))).toEqual([]);
  expect(outside.filter((ip) => ranges.contains(ip))).toEqual([]);
  expect(parseIpRanges(["0.0.0.0/0"]).contains("2001:db8::1")).toBe(false);
});

test.each([
  ["203.0.113.5", true],
  ["203.0.113.0/24", true],
  ["2001:db8::/32", true],
  ["::ffff:10.0.0.1", true],
  ["203.0.113.0/33", false],
  ["::ffff:10.0.0.1/120", false],
  ["10.0.0.5-10.0.0.9", false],
  ["203.0.113", false],
  ["example.com", false],
  ["", false],
] as const)("%j is an address or a CIDR: %s", (text, expected) => {
  expect(isAddressOrCidr(text)).toBe(expected);
});

test("IPv4 in its IPv6 form counts as IPv4", () => {
  const ranges = ipRangesOf(["203.0.113.0/24", "::ffff:10.0.0.1"]);
  expect(ranges.contains("::ffff:203.0.113.77")).toBe(true);
  expect(ranges.contains("10.0.0.1")).toBe(true);
  expect(ranges.contains("203.0.114.1")).toBe(false);
  expect(ranges.contains("nonsense")).toBe(false);
});

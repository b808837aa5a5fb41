import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIp, normalIp, parseIp, parseIpv4, truncateIp } from "./ip-address.ts";
import { parseIpRanges } from "./ip-ranges.ts";

test("every address has one normal form, whatever way it is written", () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const groups = parseIp(text);
      expect(groups).toBeDefined();
      const normal = formatIp(groups ?? []);
      expect(normalIp(normal)).toBe(normal);
      const browsers = new URL(`http://[${text}]`).hostname.slice(1, -1);
      // Browsers write a mapped IPv4 address in groups.
      expect(browsers === normal || browsers.startsWith("::ffff:")).toBe(true);
      expect(normalIp(browsers)).toBe(normal);
    }),
  );
  fc.assert(
    fc.property(fc.ipV4(), (text) => {
      expect(normalIp(text)).toBe(text);
      expect(normalIp(`::ffff:${text}`)).toBe(text);
      expect(parseIpv4(text)).toBe(
        text.split(".").reduce((address, byte) => address * 256 + Number(byte), 0),
      );
    }),
  );
});

test.each([
  "",
  "1.2.3",
  "1.2.3.4.5",
  "01.2.3.4",
  "1.2.3.256",
  "1.2.3.",
  ".1.2.3",
  "1..2.3",
  "::1::2",
  ":::",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7::8:9",
  "12345::",
  "fe80::1%eth0",
  "g::",
  "1.2.3.4::",
  "1:2",
  " 1.2.3.4",
])("%j is no address", (text) => {
  expect(normalIp(text)).toBe("");
});

test("truncated storage keeps /24 and /48", () => {
  expect(truncateIp("203.0.113.77")).toBe("203.0.113.0");
  expect(truncateIp("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1::");
  expect(truncateIp("")).toBe("");
});

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

import fc from "fast-check";
import { expect, test } from "vitest";
import { formatIp, isIpHost, normalIp, parseIp, parseIpv4 } from "./address.ts";

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

test.each([
  ["http://192.0.2.1:8080/", true],
  ["http://0x7f.1/", true],
  ["http://[2001:db8::1]/", true],
  ["http://a.example/", false],
  ["http://1.a.example/", false],
])("the host of %s is an address: %s", (url, expected) => {
  expect(isIpHost(new URL(url).hostname)).toBe(expected);
});

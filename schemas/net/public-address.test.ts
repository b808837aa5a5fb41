import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

// biome-ignore format: one value per line would hide them
const PUBLIC = [
  "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
  "192.167.255.255", "11.0.0.1", "126.255.255.255", "128.0.0.1", "223.255.255.255",
  "2606:4700:4700::1111", "2a00:1450:4001::200e", "2003::1", "2001:4860:4860::8888",
];

// biome-ignore format: one value per line would hide them
const NOT_PUBLIC = [
  "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1",
  "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.0.8",
  "198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1", "255.255.255.255", "240.0.0.1",
  "::", "::1", "fe80::1", "fe80::1%lo", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1",
  // IPv4 in IPv6: mapped, compatible, translated, 6to4, Teredo, also of public addresses.
  "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8", "2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::", "2001:db8::1",
  "3fff::1", "2606:4700::1%eth0", "", "localhost", "example.com", "127.1", "0x7f.0.0.1",
];

test.each(PUBLIC)("%s is public (G127)", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(NOT_PUBLIC)("%j is not public (G127)", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

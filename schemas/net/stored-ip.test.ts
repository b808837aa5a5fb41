import { expect, test } from "vitest";
import { storedIp, storedNormalIp } from "./stored-ip.ts";

test("ip_storage truncated keeps the /24 and the /48", () => {
  expect(storedIp("203.0.113.77", "full")).toBe("203.0.113.77");
  expect(storedIp("203.0.113.77", "truncated")).toBe("203.0.113.0");
  expect(storedIp("2001:db8:aa:bb::1", "truncated")).toBe("2001:db8:aa::");
  expect(storedIp("2001:db8:1:2:3:4:5:6", "truncated")).toBe("2001:db8:1::");
  expect(storedIp("not an address", "full")).toBe("");
});

test("a click and its conversion store one address in one form (issue 14, 5)", () => {
  expect(storedIp("2001::1", "truncated")).toBe(storedNormalIp("2001::1", "truncated"));
  expect(storedIp("2001::1", "truncated")).toBe("2001::");
  expect(storedIp("::ffff:203.0.113.77", "full")).toBe("203.0.113.77");
  expect(storedIp("::ffff:203.0.113.77", "truncated")).toBe("203.0.113.0");
});

test("of what belongs to no workspace no more than the network is kept", () => {
  expect(storedNormalIp("203.0.113.77", undefined)).toBe("203.0.113.0");
  expect(storedNormalIp("", undefined)).toBe("");
});

import { expect, test } from "vitest";
import { isOnIpList, storedIp } from "./ip-list.ts";

test("G184: an empty list has everybody, otherwise addresses and networks of both families decide", () => {
  const list = ["192.0.2.1", "198.51.100.0/24", "2001:db8::/32", "nonsense", "10.0.0.0/99"];
  const allowed = ["192.0.2.1", "198.51.100.255", "2001:db8:1::1"];
  const others = ["192.0.2.2", "198.51.101.1", "2001:db9::1", "10.0.0.1", "", "x"];
  for (const ip of allowed) expect(isOnIpList(list, ip), ip).toBe(true);
  for (const ip of others) expect(isOnIpList(list, ip), ip).toBe(false);
  expect(isOnIpList([], "")).toBe(true);
});

test("ip_storage truncated keeps the /24 and the /48", () => {
  expect(storedIp("203.0.113.77", "full")).toBe("203.0.113.77");
  expect(storedIp("203.0.113.77", "truncated")).toBe("203.0.113.0");
  expect(storedIp("2001:db8:aa:bb::1", "truncated")).toBe("2001:db8:aa::");
  expect(storedIp("2001::1", "truncated")).toBe("2001:0:0::");
  expect(storedIp("not an address", "full")).toBe("");
});

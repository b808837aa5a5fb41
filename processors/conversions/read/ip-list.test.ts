import { expect, test } from "vitest";
import { isOnIpList } from "./ip-list.ts";

test("an empty list holds every address, others match addresses and networks of both families (G184)", () => {
  const list = ["192.0.2.1", "198.51.100.0/24", "2001:db8::/32", "nonsense", "10.0.0.0/99"];
  const allowed = ["192.0.2.1", "198.51.100.255", "2001:db8:1::1"];
  const others = ["192.0.2.2", "198.51.101.1", "2001:db9::1", "10.0.0.1", "", "x"];
  for (const ip of allowed) expect(isOnIpList(list, ip), ip).toBe(true);
  for (const ip of others) expect(isOnIpList(list, ip), ip).toBe(false);
  expect(isOnIpList([], "")).toBe(true);
});

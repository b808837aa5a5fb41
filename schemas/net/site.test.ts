import { expect, test } from "vitest";
import { siteOf } from "./site.ts";

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", ""],
] as const)("%s shares the budget of %s", (address, site) => {
  expect(siteOf(address)).toBe(site);
});

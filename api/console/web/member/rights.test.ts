import { expect, test } from "vitest";
import { hasRight } from "./rights.ts";

const READS = [
  "dashboard.read",
  "reports.read",
  "offers.read",
  "affiliates.read",
  "advertisers.read",
  "conversions.read",
  "clicks.read",
  "postbacks.read",
  "creatives.read",
  "links.read",
  "deals.read",
  "tools.lint",
  "audit.read",
] as const;
const WRITES = [
  "offers.write",
  "affiliates.write",
  "advertisers.write",
  "conversions.write",
  "postbacks.write",
  "webhooks.manage",
] as const;

test("a member with all permissions of its role has everything, and one permission less is not everything", () => {
  for (const [role, all] of [
    ["admin", [...READS, ...WRITES]],
    ["analyst", READS],
  ] as const) {
    expect([role, hasRight({ role, permissions: [...all] }, "everything")]).toEqual([role, true]);
    for (const left of all) {
      const permissions = all.filter((name) => name !== left);
      const found = hasRight({ role, permissions }, "everything");
      expect([role, left, found]).toEqual([role, left, false]);
    }
  }
  expect(hasRight({ role: "partner", permissions: ["offers.read"] }, "everything")).toBe(true);
});

test("one of several rights is enough, and what needs nothing is there for all", () => {
  const member = { role: "admin" as const, permissions: ["offers.read" as const] };
  expect(hasRight(member, undefined)).toBe(true);
  expect(hasRight(member, "offers.read")).toBe(true);
  expect(hasRight(member, ["affiliates.read", "offers.read"])).toBe(true);
  expect(hasRight(member, ["affiliates.read", "links.read"])).toBe(false);
  expect(hasRight(member, ["everything", "links.read"])).toBe(false);
});

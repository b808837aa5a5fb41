import { expect, test } from "vitest";
import { permissionsOf, ROLES } from "../../../operation/permissions.ts";
import { hasRight } from "./rights.ts";

test("a member with all permissions of its role has everything, and one permission less is not everything", () => {
  for (const role of ROLES) {
    const all = { role, permissions: [...permissionsOf(role, null)] };
    expect([role, hasRight(all, "everything")]).toEqual([role, true]);
  }
  for (const role of ["admin", "analyst"] as const)
    for (const left of permissionsOf(role, null)) {
      const permissions = permissionsOf(role, null).filter((name) => name !== left);
      expect([role, left, hasRight({ role, permissions }, "everything")]).toEqual([
        role,
        left,
        false,
      ]);
    }
});

test("one of several rights is enough, and what needs nothing is there for all", () => {
  const member = { role: "admin", permissions: ["offers.read" as const] } as const;
  const rights = { ...member, permissions: [...member.permissions] };
  expect(hasRight(rights, undefined)).toBe(true);
  expect(hasRight(rights, "offers.read")).toBe(true);
  expect(hasRight(rights, ["affiliates.read", "offers.read"])).toBe(true);
  expect(hasRight(rights, ["affiliates.read", "links.read"])).toBe(false);
  expect(hasRight(rights, "everything")).toBe(false);
});

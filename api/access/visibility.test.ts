import { expect, test } from "vitest";
import { permissionsOf, ROLES, type Role } from "../operation/permissions.ts";
import { showTo } from "./visibility.ts";
import { VISIBILITY } from "./visibility-table.ts";

const RESOURCES = Object.entries(VISIBILITY);

test("every hidden field is a field of its resource", () => {
  expect(RESOURCES.length).toBeGreaterThan(5);
  for (const [resource, { fields, hidden }] of RESOURCES) {
    const known = new Set<string>(fields);
    expect(known.size, resource).toBe(fields.length);
    for (const field of Object.values(hidden).flat())
      expect([resource, field, known.has(field)]).toEqual([resource, field, true]);
  }
});

test("a field that is not listed is never shown, a hidden one is left out (VIS-058)", () => {
  const offer = {
    id: 1,
    payout: "1.0000",
    revenue: "2.0000",
    internal_note: "x",
    fallback_url: undefined,
  };
  expect(showTo("admin", "offer", offer)).toEqual({ id: 1, payout: "1.0000", revenue: "2.0000" });
  expect(showTo("partner", "offer", offer)).toEqual({ id: 1, payout: "1.0000" });
  expect(showTo("advertiser", "offer", offer)).toEqual({ id: 1, revenue: "2.0000" });
});

test("staff see everything but secrets of admins and what is the partner's own (AUTH-016)", () => {
  for (const [resource, { fields, hidden: hiddenOf }] of RESOURCES) {
    const known: Partial<Record<Role, readonly string[]>> = hiddenOf;
    const hidden = fields.filter((field) => known.analyst?.includes(field) === true);
    const secrets = {
      affiliate: ["payment_details"],
      payment_method: ["payment_details"],
      payout_line: ["details"],
      advertiser: ["postback_token"],
      offer: ["access_status", "can_run", "tracking_link"],
      offer_terms: ["accepted", "accepted_at"],
      creative: ["tracking_link", "html"],
      workspace: ["postback_token"],
      webhook: ["secret"],
      key: ["key"],
      invitation: ["link"],
    };
    expect(hidden, resource).toEqual(
      Object.entries(secrets).find(([name]) => name === resource)?.[1] ?? [],
    );
  }
});

test("permissions are those of the role, and a list narrows only staff keys (G09)", () => {
  expect(ROLES.map((role) => permissionsOf(role, null).length)).toEqual([19, 13, 10, 7]);
  expect(permissionsOf("analyst", null).filter((name) => !name.endsWith(".read"))).toEqual([
    "tools.lint",
  ]);
  expect(permissionsOf("analyst", ["offers.read", "offers.write"])).toEqual(["offers.read"]);
  expect(permissionsOf("partner", [])).toEqual(permissionsOf("partner", null));
});

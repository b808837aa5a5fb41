import { expect, test } from "vitest";
import type { OwnMembership } from "../member/use-session.ts";
import { membershipOf } from "./join-link.tsx";

const membership = (id: number, workspace: string, more: Partial<OwnMembership> = {}) =>
  ({
    id,
    role: "analyst",
    affiliate: null,
    advertiser: null,
    workspace: { name: workspace },
    ...more,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these fields are read
  }) as unknown as OwnMembership;
const link = {
  kind: "invitation",
  email: "a@example.com",
  workspace: "New",
  account: null,
  role: "analyst",
  invited_by: null,
} as const;

test("a link leads to its own workspace and role, the newest of several", () => {
  const all = [
    membership(1, "Old"),
    membership(2, "New", { role: "admin" }),
    membership(3, "New"),
    membership(4, "New"),
    membership(5, "Old"),
  ];
  expect(membershipOf(link, all)?.id).toBe(4);
  expect(membershipOf({ ...link, workspace: "Elsewhere" }, all)).toBeUndefined();
});

test("a link of a partner leads to this partner's account and to no other", () => {
  const of = (id: number, name: string) =>
    membership(id, "New", {
      role: "partner",
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the name is read
      affiliate: { name } as OwnMembership["affiliate"],
    });
  const partner = { ...link, role: "partner", account: "Anna" } as const;
  expect(membershipOf(partner, [of(1, "Anna"), of(2, "Bob")])?.id).toBe(1);
});

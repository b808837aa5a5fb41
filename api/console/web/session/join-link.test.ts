import { expect, test } from "vitest";
import { membershipOf } from "./join-link.tsx";

const membership = (id: number, workspace: string, role = "analyst", affiliate = "") => ({
  id,
  role,
  affiliate: affiliate === "" ? null : { name: affiliate },
  advertiser: null,
  workspace: { name: workspace },
});
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
    membership(2, "New", "admin"),
    membership(3, "New"),
    membership(4, "New"),
    membership(5, "Old"),
  ];
  expect(membershipOf(link, all)?.id).toBe(4);
  expect(membershipOf({ ...link, workspace: "Elsewhere" }, all)).toBeUndefined();
});

test("a link of a partner leads to this partner's account and to no other", () => {
  const all = [membership(1, "New", "partner", "Anna"), membership(2, "New", "partner", "Bob")];
  expect(membershipOf({ ...link, role: "partner", account: "Anna" }, all)?.id).toBe(1);
});

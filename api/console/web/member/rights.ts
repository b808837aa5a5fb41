import type { Membership } from "./membership.ts";

type Permission = Membership["permissions"][number];

/** What a screen, a part of one or a choice needs: one of these rights, or all that the role can have. */
export type Needs = One | readonly One[];
type One = Permission | "everything";

/** Each permission, and whether analysts have it. */
const HELD_BY_ANALYSTS: Readonly<Record<Permission, boolean>> = {
  "dashboard.read": true,
  "reports.read": true,
  "offers.read": true,
  "offers.write": false,
  "affiliates.read": true,
  "affiliates.write": false,
  "advertisers.read": true,
  "advertisers.write": false,
  "conversions.read": true,
  "conversions.write": false,
  "clicks.read": true,
  "postbacks.read": true,
  "postbacks.write": false,
  "creatives.read": true,
  "links.read": true,
  "deals.read": true,
  "tools.lint": true,
  "webhooks.manage": false,
  "audit.read": true,
};

type Rights = Pick<Membership, "role" | "permissions">;

/** Whether the member has what something needs. The API decides; this only leaves out what it would refuse. */
export function hasRight({ role, permissions }: Rights, needs: Needs | undefined): boolean {
  if (needs === undefined) return true;
  const names = typeof needs === "string" ? [needs] : needs;
  return names.some((name) =>
    name === "everything" ? !isNarrowed({ role, permissions }) : permissions.includes(name),
  );
}

/** Whether somebody of the staff has fewer permissions than the role. */
function isNarrowed({ role, permissions }: Rights): boolean {
  const held: ReadonlySet<string> = new Set(permissions);
  const isOfRole = (ofAnalysts: boolean): boolean =>
    role === "admin" || (role === "analyst" && ofAnalysts);
  return Object.entries(HELD_BY_ANALYSTS).some(
    ([name, ofAnalysts]) => isOfRole(ofAnalysts) && !held.has(name),
  );
}

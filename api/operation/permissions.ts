export const ROLES = ["admin", "analyst", "partner", "advertiser"] as const;
export type Role = (typeof ROLES)[number];

/** `admin` and `analyst`. */
const STAFF: readonly Role[] = ["admin", "analyst"];

/** Every permission, in the order of `GET /me` (G09). */
export const PERMISSIONS = [
  "dashboard.read",
  "reports.read",
  "offers.read",
  "offers.write",
  "affiliates.read",
  "affiliates.write",
  "advertisers.read",
  "advertisers.write",
  "conversions.read",
  "conversions.write",
  "clicks.read",
  "postbacks.read",
  "postbacks.write",
  "creatives.read",
  "links.read",
  "deals.read",
  "tools.lint",
  "webhooks.manage",
  "audit.read",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const BY_ROLE: Readonly<Record<Role, readonly Permission[]>> = {
  admin: PERMISSIONS,
  analyst: PERMISSIONS.filter((name) => name.endsWith(".read") || name === "tools.lint"),
  partner: [
    "dashboard.read",
    "reports.read",
    "offers.read",
    "conversions.read",
    "clicks.read",
    "postbacks.read",
    "postbacks.write",
    "creatives.read",
    "links.read",
    "deals.read",
  ],
  advertiser: [
    "dashboard.read",
    "reports.read",
    "offers.read",
    "conversions.read",
    "clicks.read",
    "creatives.read",
    "deals.read",
  ],
};

/** Permissions of a key: its role's, narrowed to `restrictedTo` for a staff key that has such a list (G09). */
export function permissionsOf(
  role: Role,
  restrictedTo: readonly string[] | null,
): readonly Permission[] {
  const all = BY_ROLE[role];
  if (restrictedTo === null || !STAFF.includes(role)) return all;
  return all.filter((name) => restrictedTo.includes(name));
}

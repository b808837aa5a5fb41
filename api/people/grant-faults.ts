import { isNarrowed } from "../access/authorize.ts";
import { referenceFaults } from "../access/references.ts";
import { ApiError } from "../operation/errors.ts";
import type { FieldFaults, OperationContext } from "../operation/operation.ts";
import { permissionsOf, ROLES, type Role } from "../operation/permissions.ts";
import { isStaff, type Principal } from "../operation/principal.ts";

/** What is granted: by an invitation, or by a change of a member. */
export type Grant = {
  readonly role: Role;
  readonly affiliate_id?: number | null | undefined;
  readonly advertiser_id?: number | null | undefined;
  readonly permissions?: readonly string[] | null | undefined;
};

type Values = Readonly<Record<string, unknown>>;

/** Faults of a grant: its account must fit its role and belong to the workspace; only staff have a list of permissions. */
export async function grantFaults(context: OperationContext, grant: Values): Promise<FieldFaults> {
  const role = ROLES.find((one) => one === grant["role"]);
  const faults: Record<string, string> = {};
  if (role !== undefined) {
    for (const [field, owner] of [
      ["affiliate_id", "partner"],
      ["advertiser_id", "advertiser"],
    ] as const) {
      const isGiven = (grant[field] ?? null) !== null;
      if (role === owner && !isGiven) faults[field] = `required for people of a ${owner}`;
      if (role !== owner && isGiven) faults[field] = `only for people of a ${owner}`;
    }
    Object.assign(faults, permissionFaults(role, grant["permissions"]));
  }
  return {
    ...faults,
    ...(await referenceFaults(context, grant, {
      affiliate_id: "affiliate",
      advertiser_id: "advertiser",
      user_id: "user",
    })),
  };
}

function permissionFaults(role: Role, permissions: unknown): FieldFaults {
  if (!Array.isArray(permissions)) return {};
  if (!isStaff(role)) return { permissions: "only staff can be restricted to a list" };
  const held: readonly unknown[] = permissionsOf(role, null);
  const beyond = permissions.findIndex((name: unknown) => !held.includes(name));
  return beyond === -1 ? {} : { [`permissions[${beyond}]`]: `not a permission of ${role}s` };
}

/** The permission that lets narrowed staff invite people of such an account. */
const INVITES = { partner: "affiliates.write", advertiser: "advertisers.write" } as const;

/** Nobody can grant a right that they do not have. @throws {ApiError} `forbidden` */
export function refuseGrantBeyond(principal: Principal, grant: Grant): void {
  if (mayGrant(principal, grant)) return;
  throw new ApiError("forbidden", "nobody may grant more than his own rights");
}

export function mayGrant(principal: Principal, { role, permissions, ...account }: Grant): boolean {
  const { affiliate, advertiser } = principal;
  if (affiliate !== null)
    return role === "partner" && (account.affiliate_id ?? null) === affiliate.id;
  if (advertiser !== null)
    return role === "advertiser" && (account.advertiser_id ?? null) === advertiser.id;
  if (principal.role !== "admin") return false;
  if (!isNarrowed(principal)) return true;
  if (role === "partner" || role === "advertiser")
    return principal.permissions.includes(INVITES[role]);
  return (
    Array.isArray(permissions) &&
    permissionsOf(role, permissions).every((name) => principal.permissions.includes(name))
  );
}

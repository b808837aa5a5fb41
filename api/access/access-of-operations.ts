import type { OperationAccess } from "../operation.ts";
import type { Permission } from "./permissions.ts";

/** Who may do it, as most operations have it. */
export function everybody(permission?: Permission): OperationAccess {
  return {
    roles: ["admin", "analyst", "partner", "advertiser"],
    isWrite: false,
    ...withPermission(permission),
  };
}

/** Admin and analyst keys. */
export function staff(permission?: Permission): OperationAccess {
  return { roles: ["admin", "analyst"], isWrite: false, ...withPermission(permission) };
}

/** Writes of admin keys. */
export function adminWrite(permission?: Permission): OperationAccess {
  return { roles: ["admin"], isWrite: true, ...withPermission(permission) };
}

/** Reads of what belongs to the installation or the workspace as a whole; a narrowed key has no part in it. */
export const wholeStaff: OperationAccess = { ...staff(), needsWholeKey: true };

/** Writes of the same. */
export const wholeAdminWrite: OperationAccess = { ...adminWrite(), needsWholeKey: true };

function withPermission(permission: Permission | undefined): { permission?: Permission } {
  return permission === undefined ? {} : { permission };
}

import type { OperationAccess } from "../operation/operation.ts";
import type { Permission } from "../operation/permissions.ts";

/** The usual access: every role. */
export function everyRole(permission?: Permission): OperationAccess {
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

/** Advertiser keys, about their own account. */
export function advertiserOnly(permission?: Permission): OperationAccess {
  return { roles: ["advertiser"], isWrite: false, ...withPermission(permission) };
}

/** Writes of admin keys. */
export function adminWrite(permission?: Permission): OperationAccess {
  return { roles: ["admin"], isWrite: true, ...withPermission(permission) };
}

/** Reads of data that belong to the installation or to the whole workspace. Refused to keys that are restricted to some permissions. */
export const unrestrictedStaff: OperationAccess = { ...staff(), needsUnrestrictedKey: true };

/** Writes of the same data. */
export const unrestrictedAdminWrite: OperationAccess = {
  ...adminWrite(),
  needsUnrestrictedKey: true,
};

function withPermission(permission: Permission | undefined): { permission?: Permission } {
  return permission === undefined ? {} : { permission };
}

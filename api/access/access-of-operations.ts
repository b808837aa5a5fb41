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

function withPermission(permission: Permission | undefined): { permission?: Permission } {
  return permission === undefined ? {} : { permission };
}

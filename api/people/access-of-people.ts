import type { OperationAccess } from "../operation/operation.ts";
import { ROLES } from "../operation/permissions.ts";

/*
 * Who may use operations for people. Only for operations of members do roles matter.
 */

export const ANYONE: OperationAccess = { roles: ROLES, isWrite: false, callers: "anyone" };
export const ANYONE_WRITES: OperationAccess = { ...ANYONE, isWrite: true };

/** A form that a program may send as well: it signs nobody in (G255). */
export const ANYONE_APPLIES: OperationAccess = { ...ANYONE_WRITES, fromAnywhere: true };

/** Also while the second factor is missing. */
export const STARTED_WRITES: OperationAccess = { roles: ROLES, isWrite: true, callers: "started" };

export const SIGNED_IN: OperationAccess = { roles: ROLES, isWrite: false, callers: "people" };
export const SIGNED_IN_WRITES: OperationAccess = { ...SIGNED_IN, isWrite: true };
/** Changes of one's own factors. */
export const FRESH_WRITES: OperationAccess = { ...SIGNED_IN_WRITES, needsFresh: true };

/** Staff with all permissions, and people of an account, who see their own account. */
export const MEMBERS: OperationAccess = {
  roles: ROLES,
  isWrite: false,
  callers: "members",
  needsUnrestrictedKey: "affiliates.read",
};
/** Analysts only read; what others may grant is decided by people/grant-faults.ts. */
export const MEMBERS_WRITE: OperationAccess = {
  roles: ROLES,
  isWrite: true,
  callers: "members",
  needsFresh: true,
};
/** Admins with all permissions. */
export const ADMINS_WRITE: OperationAccess = {
  roles: ["admin"],
  isWrite: true,
  callers: "members",
  needsFresh: true,
  needsUnrestrictedKey: true,
};

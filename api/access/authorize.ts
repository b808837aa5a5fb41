import { ApiError } from "../operation/errors.ts";
import type { OperationAccess } from "../operation/operation.ts";
import { permissionsOf } from "../operation/permissions.ts";
import { isStaff, type Principal } from "../operation/principal.ts";
import type { FoundKey } from "./api-keys.ts";

const BEARER = /^bearer +([^ ]+) *$/i;

/** The key in an Authorization header; undefined without one or with another scheme (G05). */
export function bearerKey(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** Why a valid key is refused before its request is read: address, workspace or account (G02). Undefined if it is admitted. */
export function refusalOfKey(found: FoundKey, ip: string): ApiError | undefined {
  const { allowedFrom } = found;
  if (!allowedFrom.isEmpty && !allowedFrom.contains(ip)) {
    return new ApiError("ip_not_allowed", "this key may not be used from this address");
  }
  return refusalOfAccount(found);
}

/** Why a caller whose workspace or account is not active is refused. Undefined if both are. */
export function refusalOfAccount({
  principal,
  isWorkspaceActive,
}: Pick<FoundKey, "principal" | "isWorkspaceActive">): ApiError | undefined {
  const what = nounOf(principal);
  if (!isWorkspaceActive)
    return new ApiError("workspace_inactive", `the workspace of this ${what} is not active`);
  if (principal.advertiser !== null && principal.advertiser.status !== "active") {
    return new ApiError("advertiser_inactive", `the advertiser of this ${what} is not active`);
  }
  if (principal.affiliate !== null && principal.affiliate.status !== "active") {
    return new ApiError("affiliate_inactive", `the partner of this ${what} is not active`);
  }
  return undefined;
}

/** What the caller holds, for messages. */
function nounOf({ actor }: Principal): "key" | "membership" {
  return actor.kind === "key" ? "key" : "membership";
}

/** Analysts only read. People among them also change what they have made for themselves. */
function mayAnalyst(
  { isWrite, changesOwnOnly }: OperationAccess,
  what: "key" | "membership",
): boolean {
  return !isWrite || (changesOwnOnly === true && what === "membership");
}

/** The role is checked before existence (G03): call this before looking up anything that the request names. @throws {ApiError} */
export function authorize(principal: Principal, access: OperationAccess): void {
  const refusal = refusalOfAccess(principal, access);
  if (refusal !== undefined) throw refusal;
}

/** Why this caller may never use the operation, regardless of the request. Undefined if it may. */
export function refusalOfAccess(
  principal: Principal,
  access: OperationAccess,
): ApiError | undefined {
  const what = nounOf(principal);
  if (access.callers !== undefined && what === "key") return notForKeys();
  if (principal.role === "analyst" && !mayAnalyst(access, what)) {
    return new ApiError("read_only_key", `this ${what} may only read`);
  }
  if (!access.roles.includes(principal.role)) {
    return new ApiError("forbidden", `${principal.role} ${what}s may not use this`);
  }
  const permission =
    (isStaff(principal.role) ? access.staffPermission : undefined) ?? access.permission;
  const isHeld = [permission, access.orPermission].some(
    (name) => name !== undefined && principal.permissions.includes(name),
  );
  if (permission !== undefined && !isHeld) {
    return new ApiError("forbidden", `this ${what} lacks the permission ${permission}`);
  }
  if (isTooNarrow(principal, access)) {
    return new ApiError(
      "forbidden",
      `this ${what} is restricted to some permissions, none of which covers this`,
    );
  }
  return undefined;
}

export function notForKeys(): ApiError {
  return new ApiError("forbidden", "this is for people who have signed in, not for keys");
}

function isTooNarrow(principal: Principal, { needsUnrestrictedKey }: OperationAccess): boolean {
  return (
    needsUnrestrictedKey !== undefined &&
    isNarrowed(principal) &&
    !principal.permissions.some((held) => held === needsUnrestrictedKey)
  );
}

/** Whether the caller has fewer permissions than its role (G09). */
export function isNarrowed({ role, permissions }: Principal): boolean {
  return permissions.length < permissionsOf(role, null).length;
}

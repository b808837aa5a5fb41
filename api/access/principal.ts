import type { Permission, Role } from "./permissions.ts";

/** The workspace of the key. */
export type PrincipalWorkspace = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly brand_name: string;
  /** IANA name. */
  readonly timezone: string;
  readonly currency: string;
};

/** The account of a partner key (G10). */
export type PrincipalAffiliate = {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly status: string;
  readonly currency: string;
};

/** The account of an advertiser key (G10). */
export type PrincipalAdvertiser = {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly currency: string;
};

type Key = {
  readonly keyId: number;
  readonly keyName: string;
  readonly permissions: readonly Permission[];
  readonly workspace: PrincipalWorkspace;
};

/** The caller: an admitted key with the account it belongs to. */
export type Principal =
  | (Key & {
      readonly role: "admin" | "analyst";
      readonly affiliate: null;
      readonly advertiser: null;
    })
  | (Key & {
      readonly role: "partner";
      readonly affiliate: PrincipalAffiliate;
      readonly advertiser: null;
    })
  | (Key & {
      readonly role: "advertiser";
      readonly affiliate: null;
      readonly advertiser: PrincipalAdvertiser;
    });

/** Keys of a workspace with the same scope see the same records and fields (G33). */
export function scopeOf(principal: Principal): string {
  const account = principal.affiliate?.id ?? principal.advertiser?.id ?? 0;
  return `${principal.role}:${account}`;
}

export function isStaff(role: Role): boolean {
  return role === "admin" || role === "analyst";
}

import type { Permission, Role } from "./permissions.ts";

/** The workspace of the caller. */
export type PrincipalWorkspace = {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly brand_name: string;
  /** IANA name. */
  readonly timezone: string;
  readonly currency: string;
};

/** The account of a partner (G10). */
export type PrincipalAffiliate = {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly status: string;
  readonly currency: string;
};

/** The account of an advertiser (G10). */
export type PrincipalAdvertiser = {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly currency: string;
};

/** Who acts: a key, or a person through a session. The command line acts as key 0. */
export type Actor =
  | { readonly kind: "key"; readonly id: number; readonly name: string }
  | {
      readonly kind: "person";
      readonly id: number;
      readonly name: string;
      readonly membershipId: number;
    };

type Caller = {
  readonly actor: Actor;
  readonly permissions: readonly Permission[];
  readonly workspace: PrincipalWorkspace;
};

/** The caller: an admitted key or membership with the account it belongs to. */
export type Principal =
  | (Caller & {
      readonly role: "admin" | "analyst";
      readonly affiliate: null;
      readonly advertiser: null;
    })
  | (Caller & {
      readonly role: "partner";
      readonly affiliate: PrincipalAffiliate;
      readonly advertiser: null;
    })
  | (Caller & {
      readonly role: "advertiser";
      readonly affiliate: null;
      readonly advertiser: PrincipalAdvertiser;
    });

/** What a statement reads of a caller's workspace and account. */
export type AccountColumns = {
  role: Role;
  workspace_id: number;
  slug: string;
  workspace_name: string;
  brand_name: string;
  timezone: string;
  workspace_currency: string;
  workspace_status: string;
  affiliate_id: number | null;
  affiliate_code: string;
  affiliate_name: string;
  affiliate_status: string;
  affiliate_currency: string;
  advertiser_id: number | null;
  advertiser_name: string;
  advertiser_status: string;
  advertiser_currency: string;
};

/** The caller with the workspace and the account of the row. */
export function accountOf(
  row: AccountColumns,
  { actor, permissions }: Pick<Caller, "actor" | "permissions">,
): Principal {
  const caller = {
    actor,
    permissions,
    workspace: {
      id: row.workspace_id,
      slug: row.slug,
      name: row.workspace_name,
      brand_name: row.brand_name,
      timezone: row.timezone,
      currency: row.workspace_currency,
    },
  };
  if (row.role === "partner") {
    const affiliate = {
      id: row.affiliate_id ?? 0,
      code: row.affiliate_code,
      name: row.affiliate_name,
      status: row.affiliate_status,
      currency: row.affiliate_currency,
    };
    return { ...caller, role: row.role, affiliate, advertiser: null };
  }
  if (row.role === "advertiser") {
    const advertiser = {
      id: row.advertiser_id ?? 0,
      name: row.advertiser_name,
      status: row.advertiser_status,
      currency: row.advertiser_currency,
    };
    return { ...caller, role: row.role, affiliate: null, advertiser };
  }
  return { ...caller, role: row.role, affiliate: null, advertiser: null };
}

/** The id of the acting key; null for a person. */
export function keyIdOf({ kind, id }: Actor): number | null {
  return kind === "key" ? id : null;
}

/** Callers of a workspace with the same scope see the same records and fields (G33). */
export function scopeOf(principal: Principal): string {
  const account = principal.affiliate?.id ?? principal.advertiser?.id ?? 0;
  return `${principal.role}:${account}`;
}

export function isStaff(role: Role): boolean {
  return role === "admin" || role === "analyst";
}

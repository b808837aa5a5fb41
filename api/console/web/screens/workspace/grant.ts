import { advertiserChoices, affiliateIdChoices } from "../../client/choices.ts";
import type { Membership } from "../../member/membership.ts";
import { hasRight } from "../../member/rights.ts";
import type { OwnMembership } from "../../member/use-session.ts";
import type { FormBody, FormField } from "../../records/record-form.tsx";

type Role = OwnMembership["role"];

/** Role and account of a person or a key, as staff give them. */
export const GRANT_FIELDS: readonly FormField[] = [
  {
    name: "role",
    label: "Role",
    choices: [
      ["analyst", "Analyst: reads everything"],
      ["admin", "Admin: changes everything"],
      ["partner", "Partner"],
      ["advertiser", "Advertiser"],
    ],
  },
  {
    name: "affiliate_id",
    label: "Partner",
    kind: "record",
    load: affiliateIdChoices,
    onlyFor: { name: "role", value: "partner" },
  },
  {
    name: "advertiser_id",
    label: "Advertiser",
    kind: "record",
    load: advertiserChoices,
    onlyFor: { name: "role", value: "advertiser" },
  },
];
const ACCOUNTS = [
  ["partner", "affiliates.write"],
  ["advertiser", "advertisers.write"],
] as const;

/** The roles that a member may give to others: nobody grants more than it has. */
export function rolesToGrant(
  membership: Pick<Membership, "role" | "permissions">,
): readonly Role[] {
  const { role } = membership;
  if (role === "analyst") return [];
  if (role !== "admin") return [role];
  if (hasRight(membership, "everything")) return ROLES;
  return ACCOUNTS.flatMap(([account, needs]) => (hasRight(membership, needs) ? [account] : []));
}

/** The fields with these roles alone. */
export function grantFields(roles: readonly Role[]): readonly FormField[] {
  const given: ReadonlySet<string> = new Set(roles);
  return GRANT_FIELDS.map((field) =>
    field.name === "role" && field.choices !== undefined
      ? { ...field, choices: field.choices.filter(([role]) => given.has(role)) }
      : field,
  );
}

/** What the fields show at the beginning. */
export const GRANT_AT_FIRST = { role: "analyst" } as const;

const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];

export type Grant = {
  readonly role: Role;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number | null;
};

/** What the fields say; `first` is the role that they showed at the beginning. An account that another role had before is left out. */
export function grantOf(body: FormBody, first: Role = GRANT_AT_FIRST.role): Grant {
  const role = ROLES.find((one) => one === body["role"]) ?? first;
  return {
    role,
    affiliate_id: role === "partner" ? idOf(body["affiliate_id"]) : null,
    advertiser_id: role === "advertiser" ? idOf(body["advertiser_id"]) : null,
  };
}

function idOf(value: FormBody[string] | undefined): number | null {
  return typeof value === "number" ? value : null;
}

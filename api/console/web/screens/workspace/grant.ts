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
  { name: "affiliate_id", label: "Partner ID", kind: "number", hint: "For the role Partner" },
  {
    name: "advertiser_id",
    label: "Advertiser ID",
    kind: "number",
    hint: "For the role Advertiser",
  },
];
/** What the fields show at the beginning. */
export const GRANT_AT_FIRST = { role: "analyst" } as const;

const ROLES: readonly Role[] = ["admin", "analyst", "partner", "advertiser"];

export type Grant = {
  readonly role: Role;
  readonly affiliate_id: number | null;
  readonly advertiser_id: number | null;
};

/** What the fields say. */
export function grantOf({ role, affiliate_id: partner, advertiser_id: other }: FormBody): Grant {
  return {
    role: ROLES.find((one) => one === role) ?? GRANT_AT_FIRST.role,
    affiliate_id: idOf(partner),
    advertiser_id: idOf(other),
  };
}

function idOf(value: FormBody[string] | undefined): number | null {
  return typeof value === "number" ? value : null;
}

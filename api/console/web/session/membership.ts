import { createContext, useContext } from "react";
import type { Reader } from "../client/reports.ts";

export type Role = "admin" | "analyst" | "partner" | "advertiser";

/** Whose workspace the screens show, and with which rights. */
export type Membership = Reader & {
  readonly role: Role;
  readonly slug: string;
  readonly workspaceName: string;
  readonly zone: string;
  readonly currency: string;
  /** What a narrowed member may do; undefined: everything of the role. */
  readonly permissions: readonly string[] | undefined;
};

const Chosen = createContext<Membership | undefined>(undefined);
export const MembershipContext = Chosen.Provider;

export function useMembership(): Membership {
  const membership = useContext(Chosen);
  if (membership === undefined) throw new Error("this screen stands outside of a membership");
  return membership;
}

/** Whether the role, as narrowed for this member, allows something, such as `offers.write`. */
export function mayDo({ role, permissions }: Membership, permission: string): boolean {
  if (role === "analyst" && permission.endsWith(".write")) return false;
  return permissions === undefined || permissions.includes(permission);
}

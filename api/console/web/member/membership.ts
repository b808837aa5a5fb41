import { createContext, useContext } from "react";
import type { Reader } from "../client/reports.ts";
import type { OwnMembership, Session } from "./use-session.ts";

/** Whose workspace the screens show, and with which rights. */
export type Membership = Reader & {
  readonly role: OwnMembership["role"];
  /** Address of its screens below `/console`. */
  readonly base: string;
  readonly workspaceName: string;
  /** Name of the partner or advertiser. */
  readonly accountName: string | undefined;
  readonly zone: string;
  readonly currency: string;
  readonly permissions: OwnMembership["permissions"];
  readonly session: Session;
};

const Chosen = createContext<Membership | undefined>(undefined);
export const MembershipContext = Chosen.Provider;

export function useMembership(): Membership {
  const membership = useContext(Chosen);
  if (membership === undefined) throw new Error("this screen stands outside of a membership");
  return membership;
}

/** Whether the member may do something, such as `offers.write`. The API decides; this only leaves out what the API would refuse. */
export function mayDo(
  { permissions }: Membership,
  permission: OwnMembership["permissions"][number],
): boolean {
  return permissions.includes(permission);
}

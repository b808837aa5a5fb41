import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";

/** The name of an offer, partner or advertiser. For staff it leads to the page of the record. */
export function RecordLink({
  path,
  id,
  children,
}: {
  /** Of the list, below the membership's address. */
  readonly path: "/offers" | "/partners" | "/advertisers";
  readonly id: number;
  readonly children: ReactNode;
}): ReactElement {
  const { base, role } = useMembership();
  if (role === "partner" || role === "advertiser") return <>{children}</>;
  return <Link href={`${base}${path}/${id}`}>{children}</Link>;
}

import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";

const WITH_PAGES = new Set([
  "/offers",
  "/partners",
  "/advertisers",
  "/money/invoices",
  "/money/payouts",
  "/money/statements",
]);

/** The name of a record, which leads to it: offers, partners, advertisers, invoices, statements and payout runs have pages. Only staff have screens where each record has an address. */
export function RecordLink({
  path,
  id,
  children,
}: {
  /** Address of the list, such as /offers. */
  readonly path: string;
  readonly id: string | number;
  readonly children: ReactNode;
}): ReactElement {
  const { base, role } = useMembership();
  if (role === "partner" || role === "advertiser") return <>{children}</>;
  const place = WITH_PAGES.has(path) ? `${path}/${id}` : `${path}?open=${id}`;
  return <Link href={base + place}>{children}</Link>;
}

import type { ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";

/** The name of a record, which leads to it. Only staff have screens where each record has an address. */
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
  if (role !== "admin" && role !== "analyst") return <>{children}</>;
  return <Link href={`${base}${path}?open=${id}`}>{children}</Link>;
}

import type { ReactElement, ReactNode } from "react";
import { useReport } from "../../client/reports.ts";
import { later } from "../../later.tsx";
import { useMembership } from "../../member/membership.ts";

// Partners and advertisers never load it.
const FirstSteps = later(async () => (await import("../first-steps/first-steps.tsx")).FirstSteps);

/** The charts of a period. An admin of a workspace that never had a conversion sees the first steps in their place, not flat lines. */
export function ChartsOrSteps({
  query,
  children,
}: {
  /** The dashboard's own question for its totals, so that it is asked once. */
  readonly query: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}): ReactElement {
  const membership = useMembership();
  const { data } = useReport(membership, query);
  const isQuiet = membership.role === "admin" && data?.totals["gross_conversions"] === 0;
  return isQuiet ? <FirstSteps charts={children} /> : <>{children}</>;
}

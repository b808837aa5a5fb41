import type { UseQueryResult } from "@tanstack/react-query";
import { type ReportFields, useReportFields } from "../client/reports.ts";
import { useMembership } from "../member/membership.ts";
import { useRoleFigures } from "./role-figures.ts";

/** What a report may contain, by the names that the member's role uses for it: an advertiser's `revenue` is a cost to him. */
export function useNamedFields(): UseQueryResult<ReportFields> {
  return useReportFields(useMembership(), useRoleFigures());
}

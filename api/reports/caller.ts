import type { OperationContext } from "../operation/operation.ts";
import type { Principal } from "../operation/principal.ts";
import type { ReportCaller } from "./report-request.ts";
import type { ReportScope } from "./report-scope.ts";

/** The rows that a key may see in reports. */
export function reportScope(principal: Principal): ReportScope {
  const workspaceId = principal.workspace.id;
  switch (principal.role) {
    case "admin":
    case "analyst":
      return { role: "staff", workspaceId };
    case "partner":
      return { role: "partner", workspaceId, ownerId: principal.affiliate.id };
    case "advertiser":
      return { role: "advertiser", workspaceId, ownerId: principal.advertiser.id };
  }
}

export function reportCaller({ principal, workspace, nowMs }: OperationContext): ReportCaller {
  return {
    role: reportScope(principal).role,
    nowMs,
    workspaceTimezone: workspace.timezone,
    workspaceCurrency: workspace.currency,
  };
}

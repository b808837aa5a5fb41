import type { SqlParams } from "./sql-params.ts";

/** Staff stands for admin and analyst, which see the same numbers. */
export type ReportRole = "staff" | "partner" | "advertiser";

/** Whose rows a report may count (REP-054, REP-059). `ownerId` is the partner's or the advertiser's id. */
export type ReportScope =
  | { readonly role: "staff"; readonly workspaceId: number }
  | { readonly role: "partner"; readonly workspaceId: number; readonly ownerId: number }
  | { readonly role: "advertiser"; readonly workspaceId: number; readonly ownerId: number };

/** The column with the account's id. A partner or an advertiser sees only its own rows. */
export const OWNER_COLUMN = { partner: "affiliate_id", advertiser: "advertiser_id" } as const;

/** The conditions of a scope, for any table of ClickHouse. */
export function scopeConditions(scope: ReportScope, params: SqlParams): string[] {
  const workspace = `workspace_id = ${params.of("UInt32", scope.workspaceId)}`;
  if (scope.role === "staff") return [workspace];
  return [workspace, `${OWNER_COLUMN[scope.role]} = ${params.of("UInt32", scope.ownerId)}`];
}

/** Staff stands for admin and analyst, which see the same numbers. */
export type ReportRole = "staff" | "partner" | "advertiser";

/** Whose rows a report may count (REP-054, REP-059). `ownerId` is the partner's or the advertiser's id. */
export type ReportScope =
  | { readonly role: "staff"; readonly workspaceId: number }
  | { readonly role: "partner"; readonly workspaceId: number; readonly ownerId: number }
  | { readonly role: "advertiser"; readonly workspaceId: number; readonly ownerId: number };

import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Advertiser, Workspace } from "../../../schemas/catalog/records.ts";
import { type Refusal, unauthorized } from "../report/refusal.ts";

/** Who sent a report. A pixel comes from a visitor's browser and has no owner. */
export type Sender =
  | { readonly kind: "workspace"; readonly workspace: Workspace }
  | { readonly kind: "advertiser"; readonly workspace: Workspace; readonly advertiser: Advertiser }
  | { readonly kind: "pixel" };

/** The sender to whom a token belongs, as it was when the report arrived. Refuses the token of an advertiser that is not active (T65). */
export function senderOfToken(
  catalog: Catalog,
  token: string,
  receivedAtMs: number,
): Sender | Refusal {
  if (token === "") return unauthorized("token required", "token_required");
  const owner = catalog.ownerOfToken(token, receivedAtMs);
  if (owner === undefined) return unauthorized("invalid token", "invalid_token");
  if (owner.kind === "advertiser" && owner.advertiser.status !== "active") {
    return unauthorized("advertiser_inactive", "advertiser_inactive");
  }
  return owner;
}

/** Whether the sender may report for this advertiser's offers. */
export function mayActFor(sender: Sender, advertiserId: number): boolean {
  return sender.kind !== "advertiser" || sender.advertiser.id === advertiserId;
}

export const FOREIGN_OFFER: Refusal = unauthorized(
  "token not valid for this offer",
  "invalid_token",
);

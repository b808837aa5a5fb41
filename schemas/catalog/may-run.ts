import type { Offer, OfferAccess } from "./records.ts";

/**
 * Whether a partner's access record lets it run an active offer, by the visibility of the offer (G48). "none" is a partner without a
 * record. Clicks use this table, and the condition in the API's statements is generated from it.
 */
export const ACCESS_TO_RUN: Readonly<
  Record<Offer["visibility"], Readonly<Record<OfferAccess["status"] | "none", boolean>>>
> = {
  public: { none: true, pending: true, approved: true, rejected: false },
  approval: { none: false, pending: false, approved: true, rejected: false },
  private: { none: false, pending: false, approved: true, rejected: false },
};

/** Why a partner may not run an active offer; undefined when it may. Does not check the status of the partner and of the advertiser. */
export type RunFault = "rejected" | "not_approved" | "terms_not_accepted";

/** @param access the partner's record, if it has one. An offer with terms needs them accepted, whatever its visibility (G189). */
export function runFault(
  { visibility, terms }: Pick<Offer, "visibility" | "terms">,
  access: Pick<OfferAccess, "status" | "terms_accepted"> | undefined,
): RunFault | undefined {
  const status = access?.status ?? "none";
  if (!ACCESS_TO_RUN[visibility][status]) {
    return status === "rejected" ? "rejected" : "not_approved";
  }
  return terms === null || access?.terms_accepted === true ? undefined : "terms_not_accepted";
}

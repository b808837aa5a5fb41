import type { Principal } from "../../operation/principal.ts";
import type { OfferRow } from "../offers/offer-fields.ts";
import { showOffer } from "../offers/show-offer.ts";

/** The link for the creatives that a key reads; undefined unless the key belongs to a partner who can run the offer. */
export function partnerLinkOf(principal: Principal, offer: OfferRow): string | undefined {
  const { tracking_link: link } = showOffer(principal, offer);
  return typeof link === "string" ? link : undefined;
}

import type { Principal } from "../access/principal.ts";
import type { OfferRow } from "../offers/offer-fields.ts";
import { showOffer } from "../offers/show-offer.ts";

/** The link that a key's own creatives have; undefined unless it is of a partner who can run the offer. */
export function partnerLinkOf(principal: Principal, offer: OfferRow): string | undefined {
  const { tracking_link: link } = showOffer(principal, offer);
  return typeof link === "string" ? link : undefined;
}

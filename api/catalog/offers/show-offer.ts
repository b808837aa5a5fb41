import { ownPayout } from "../../../schemas/catalog/own-terms.ts";
import { destinationWarnings } from "../../../schemas/macros/destination-warnings.ts";
import { showTo } from "../../access/visibility.ts";
import type { Principal } from "../../operation/principal.ts";
import { affiliateLink } from "../links/build-link.ts";
import type { EventRow, OfferRow } from "./offer-fields.ts";
import type { PartnerOfferRow } from "./offers.ts";

/** An offer as the key sees it. */
export function showOffer(
  principal: Principal,
  offer: OfferRow | PartnerOfferRow,
): Record<string, unknown> {
  if (principal.role === "partner" && isPartnerRow(offer)) {
    return showToPartner(offer, linkOf(offer, principal.affiliate.code));
  }
  return showTo(principal.role, "offer", {
    ...offer,
    caps: showTo(principal.role, "caps", offer.caps),
    events: offer.events.map((event) => showTo(principal.role, "event", event)),
  });
}

/** The answer to a write of an offer. */
export function writtenOffer(
  principal: Principal,
  {
    offer,
    body,
  }: { readonly offer: OfferRow; readonly body: { destination_url?: string | undefined } },
): { data: Record<string, unknown>; warnings?: string[] } {
  const warnings = destinationWarnings(body.destination_url ?? "");
  return { data: showOffer(principal, offer), ...(warnings.length > 0 && { warnings }) };
}

function isPartnerRow(offer: OfferRow | PartnerOfferRow): offer is PartnerOfferRow {
  return "overrides" in offer;
}

/** What the offer pays this partner for its default event, and its link if it may run the offer. */
export function termsOfPartner(
  offer: PartnerOfferRow,
  affiliateCode: string,
): Pick<EventRow, "payout_type" | "payout"> & { readonly tracking_link: string | null } {
  const code = offer.events.find((event) => event.is_default)?.code ?? "default";
  const link = offer.can_run ? linkOf(offer, affiliateCode) : undefined;
  return { ...payoutOf(offer, { ...offer, code, is_default: true }), tracking_link: link ?? null };
}

function showToPartner(offer: PartnerOfferRow, link: string | undefined): Record<string, unknown> {
  const events = offer.events.map((event) => ({ ...event, ...payoutOf(offer, event) }));
  const terms = payoutOf(offer, {
    ...offer,
    code: events.find((event) => event.is_default)?.code ?? "default",
    is_default: true,
  });
  const shown = events.filter((event) => !event.is_private);
  return showTo("partner", "offer", {
    ...offer,
    ...terms,
    events: shown.map((event) => showTo("partner", "event", event)),
    tracking_link: offer.can_run ? link : undefined,
  });
}

/** The terms that pay the partner: the partner's own, else the event's (G199). */
function payoutOf(
  offer: PartnerOfferRow,
  event: Pick<EventRow, "code" | "is_default" | "payout_type" | "payout">,
): Pick<EventRow, "payout_type" | "payout"> {
  const { payout_type, payout } = event;
  // Offers paid by click show their own rate (T25).
  if (offer.payout_type === "cpc" || offer.revenue_type === "rpc") return { payout_type, payout };
  const override = ownPayout(event, offer.overrides);
  return override === undefined
    ? { payout_type, payout }
    : { payout_type: override.type, payout: override.payout };
}

/** Undefined without an active tracking domain, because no other host is sure to serve the workspace (G153). */
function linkOf({ code, origin }: PartnerOfferRow, affiliateCode: string): string | undefined {
  if (origin === null) return undefined;
  return affiliateLink({ origin, offerCode: code, affiliateCode, values: [] });
}

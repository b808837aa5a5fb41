import type { Principal } from "../access/principal.ts";
import { showTo } from "../access/visibility.ts";
import type { EventRow, OfferRow, OverrideRow, PartnerOfferRow } from "./offers.ts";

/** An offer as the key sees it (section 2.13). `trackingUrl` is used where a workspace has no tracking domain of its own. */
export function showOffer(
  principal: Principal,
  offer: OfferRow | PartnerOfferRow,
  trackingUrl: string,
): Record<string, unknown> {
  if (principal.role === "partner" && isPartnerRow(offer)) {
    return showToPartner(offer, linkOf(offer, principal.affiliate.code, trackingUrl));
  }
  return showTo(principal.role, "offer", {
    ...offer,
    caps: showTo(principal.role, "caps", offer.caps),
    events: offer.events.map((event) => showTo(principal.role, "event", event)),
  });
}

function isPartnerRow(offer: OfferRow | PartnerOfferRow): offer is PartnerOfferRow {
  return "overrides" in offer;
}

function showToPartner(offer: PartnerOfferRow, link: string): Record<string, unknown> {
  const events = offer.events.map((event) => ({ ...event, ...payoutOf(offer, event) }));
  const own = payoutOf(offer, {
    ...offer,
    code: events.find((event) => event.is_default)?.code ?? "default",
  });
  return showTo("partner", "offer", {
    ...offer,
    ...own,
    events: events
      .filter((event) => !event.is_private)
      .map((event) => showTo("partner", "event", event)),
    ...(offer.can_run ? { tracking_link: link } : {}),
  });
}

/** The terms that pay the partner: own ones of the event, own ones of the whole offer, those of the event. */
function payoutOf(
  offer: PartnerOfferRow,
  event: Pick<EventRow, "code" | "payout_type" | "payout">,
): Pick<EventRow, "payout_type" | "payout"> {
  const { payout_type, payout } = event;
  // Offers paid by click show their own rate (T25).
  if (offer.payout_type === "cpc" || offer.revenue_type === "rpc") return { payout_type, payout };
  const own = findOwn(offer.overrides, event.code) ?? findOwn(offer.overrides, null);
  return own ?? { payout_type, payout };
}

function findOwn(
  overrides: readonly OverrideRow[],
  eventCode: string | null,
): Pick<EventRow, "payout_type" | "payout"> | undefined {
  const own = overrides.find(({ event_code }) => event_code === eventCode);
  if (own === undefined || own.payout_type === null || own.payout === null) return undefined;
  return { payout_type: own.payout_type, payout: own.payout };
}

function linkOf(offer: PartnerOfferRow, affiliateCode: string, trackingUrl: string): string {
  return `${offer.origin ?? trackingUrl}/r/${offer.code}/${affiliateCode}`;
}

import type { paths } from "../../../../../.build/console/openapi.ts";
import type { Offer } from "./offer.ts";

type NewOffer = paths["/offers"]["post"]["requestBody"]["content"]["application/json"];
type NewEvent = NonNullable<NewOffer["events"]>[number];

/** A new offer with the terms, rules and events of another one. It starts paused, and its code is made by the API. */
export function copyOf(offer: Offer): NewOffer {
  const {
    id: _id,
    code: _code,
    created_at: _createdAt,
    updated_at: _updatedAt,
    access_status: _access,
    can_run: _canRun,
    tracking_link: _link,
    events,
    name,
    advertiser_id: advertiserId = 0,
    destination_url: destination = "",
    ...terms
  } = offer;
  return {
    ...terms,
    name: `${name} (copy)`,
    status: "paused",
    advertiser_id: advertiserId,
    destination_url: destination,
    events: events.filter((event) => !event.is_default).map(copyOfEvent),
  };
}

/** Only the default event can be paid per click, and it follows from the offer. */
function copyOfEvent({
  id: _id,
  is_default: _isDefault,
  payout_type: payoutType,
  revenue_type: revenueType,
  ...event
}: Offer["events"][number]): NewEvent {
  return {
    ...event,
    payout_type: payoutType === "cps" ? "cps" : "cpa",
    revenue_type: revenueType === "rps" ? "rps" : "rpa",
  };
}
